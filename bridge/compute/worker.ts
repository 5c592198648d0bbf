/** The program of a thread or a process of ours: answers one question after the other. */
import { parentPort } from 'node:worker_threads';
import { failureOf, type TaskAnswer, type TaskQuestion } from './messages.ts';
import { TASKS } from './tasks.ts';

parentPort?.on('message', async (question: TaskQuestion) => {
  const answer = await answerTo(question);
  parentPort?.postMessage(answer, transferable(answer));
});

if (parentPort === null) {
  process.on('message', async (question: TaskQuestion) => process.send?.(await answerTo(question)));
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
}

// The reader of PDFs leaves promises alone that fail with a damaged file. Everything that a task awaits is in its answer.
process.on('unhandledRejection', () => {});

async function answerTo({ name, input }: TaskQuestion): Promise<TaskAnswer> {
  try {
    const { run } = TASKS[name] as { readonly run: (input: unknown) => unknown };
    return { state: 'done', output: await run(input) };
  } catch (error) {
    return failureOf(error);
  }
}

/** A whole buffer is transferred without a copy. A view into a larger buffer must be copied. */
function transferable(answer: TaskAnswer): ArrayBuffer[] {
  if (answer.state !== 'done' || typeof answer.output !== 'object') return [];
  return Object.values(answer.output ?? {}).flatMap((value) =>
    value instanceof Uint8Array && value.byteLength === value.buffer.byteLength
      ? [value.buffer as ArrayBuffer]
      : [],
  );
}

/** The inside of a thread or a process of ours: answers one question after the other. */
import { parentPort } from 'node:worker_threads';
import { failureOf, type TaskAnswer, type TaskQuestion } from './messages.ts';
import type { Task } from './task.ts';

/** Each task takes only inputs of its own, which its name finds. */
type AnyTask = Task<never, unknown>;

/** Serves these tasks to whoever has started this program. Called once, by `bridge/compute/worker.ts`. */
export function serveTasks(tasks: readonly AnyTask[]): void {
  const served = new Map(tasks.map((each) => [each.name, each]));
  if (served.size < tasks.length) throw new Error('two tasks have one name');

  const answerTo = async ({ name, input }: TaskQuestion): Promise<TaskAnswer> => {
    try {
      const asked = served.get(name);
      if (asked === undefined) throw new Error(`no task is named ${name}`);
      return { state: 'done', output: await asked.run(input as never) };
    } catch (error) {
      return failureOf(error);
    }
  };

  parentPort?.on('message', async (question: TaskQuestion) => {
    const answer = await answerTo(question);
    parentPort?.postMessage(answer, transferable(answer));
  });
  if (parentPort === null) {
    process.on('message', async (question: TaskQuestion) =>
      process.send?.(await answerTo(question)),
    );
    process.on('disconnect', () => process.exit());
    process.send?.('ready');
  }
  // The reader of PDFs leaves promises alone that fail with a damaged file. Everything that a task awaits is in its
  // answer.
  process.on('unhandledRejection', () => {});
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

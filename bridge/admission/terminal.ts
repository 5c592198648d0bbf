/** Asks the person at the bridge's own terminal, one question after another. */
import { createInterface, type Interface } from 'node:readline/promises';
import type { ApprovalQuestion } from '../../shared/approvals.ts';
import { describeProposal, inPlainSight } from '../../shared/plain-sight.ts';
import type { TerminalAnswer, TerminalPrompt } from './asking.ts';

/** Undefined where there is no terminal: then nobody is asked here. */
export function createTerminalPrompt(
  input: NodeJS.ReadableStream & MaybeTerminal,
  output: NodeJS.WritableStream & MaybeTerminal,
): TerminalPrompt | undefined {
  if (!input.isTTY || !output.isTTY) return undefined;
  let previous: Promise<unknown> = Promise.resolve();
  return {
    ask: (question, reason, signal) => {
      const answer = previous.then(() => askOne({ question, reason, signal, input, output }));
      previous = answer;
      return answer;
    },
  };
}

interface MaybeTerminal {
  readonly isTTY?: boolean | undefined;
}

interface Prompt {
  readonly question: ApprovalQuestion;
  readonly reason: string;
  readonly signal: AbortSignal;
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** The interface lives only as long as the question, so that the terminal is free in between. */
async function askOne(prompt: Prompt): Promise<TerminalAnswer | undefined> {
  const { question, reason, signal, input, output } = prompt;
  if (signal.aborted) return undefined;
  const lines = createInterface({ input, output, terminal: true });
  const ended = new AbortController();
  lines.once('close', () => ended.abort());
  // Raw mode takes Ctrl-C from the terminal; it means the bridge, not the question.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    output.write(describeQuestion(question, reason));
    return await readAnswer(lines, AbortSignal.any([signal, ended.signal]));
  } catch {
    // Taken back, or the terminal was closed: somebody else answers, or nobody.
    output.write('\n(The question was withdrawn.)\n');
    return undefined;
  } finally {
    lines.close();
  }
}

async function readAnswer(lines: Interface, signal: AbortSignal): Promise<TerminalAnswer> {
  for (;;) {
    const answer = (await lines.question('Run it? [y/n] ', { signal })).trim().toLowerCase();
    if (answer === 'y' || answer === 'yes') return { decision: 'once' };
    if (answer === 'n' || answer === 'no') {
      const message = (await lines.question('Why not (may stay empty)? ', { signal })).trim();
      return { decision: 'reject', message };
    }
  }
}

/** Everything that is approved, and in plain sight. */
export function describeQuestion({ proposal }: ApprovalQuestion, reason: string): string {
  return [
    '',
    `Drawbridge asks: ${inPlainSight(proposal.tool)}`,
    ...describeProposal(proposal),
    `  (${inPlainSight(reason).replaceAll('\n', ' ')})`,
    '',
  ].join('\n');
}

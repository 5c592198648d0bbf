/** Asks the person at the bridge's own terminal, one question after another. */

import { askForm } from '../../machine/ask-form.ts';
import { Keyboard, type KeyInput, type KeyOutput, signalAll } from '../../machine/keyboard.ts';
import { describeProposal, lastingOf, parseAnswer, yesWords } from '../../shared/shown/proposal.ts';
import { inPlainSight } from '../../shared/text/plain-sight.ts';
import type { ApprovalQuestion } from '../../shared/wire/approvals.ts';
import type { TerminalAnswer, TerminalPrompt } from './askers.ts';

/** Undefined where there is no terminal. Then the bridge asks nothing here. */
export function createTerminalPrompt(
  input: KeyInput & MaybeTerminal,
  output: KeyOutput & MaybeTerminal,
): TerminalPrompt | undefined {
  if (!input.isTTY || !output.isTTY) return undefined;
  const keyboard = new Keyboard({ input, output, onInterrupt: interruptJob });
  let previous: Promise<unknown> = Promise.resolve();
  return {
    ask: (question, reason, signal) => {
      const answer = previous.then(() => askOne({ question, reason, signal, keyboard, output }));
      previous = answer;
      return answer;
    },
  };
}

interface MaybeTerminal {
  readonly isTTY?: boolean | undefined;
}

/** Ctrl-C ends the whole job, not the question. A bridge that `up` has started lets `up` end it. */
function interruptJob(): boolean {
  signalAll('SIGINT');
  return true;
}

interface Prompt {
  readonly question: ApprovalQuestion;
  readonly reason: string;
  readonly signal: AbortSignal;
  readonly keyboard: Keyboard;
  readonly output: NodeJS.WritableStream;
}

/** Holds the keyboard only during the question, so that the terminal is free in between. */
async function askOne(prompt: Prompt): Promise<TerminalAnswer | undefined> {
  const { question, reason, signal, keyboard, output } = prompt;
  if (signal.aborted) return undefined;
  const above = describeQuestion(question, reason);
  const words = question.proposal.kind === 'elicitation' ? 'Answer it?' : 'Run it?';
  const canBeAlways = lastingOf(question.proposal) !== undefined;
  const decided = await readAnswer(keyboard, { above, words, canBeAlways }, signal);
  const answer = decided && (await withValues(decided, prompt));
  // The question was withdrawn or the terminal was closed. Another device may still answer.
  if (answer === undefined) output.write('(The question was withdrawn.)\n');
  return answer;
}

/** A yes to a server's question needs values. */
async function withValues(
  answer: TerminalAnswer,
  { question: { proposal }, signal, keyboard, output }: Prompt,
): Promise<TerminalAnswer | undefined> {
  if (proposal.kind !== 'elicitation' || answer.decision === 'reject') return answer;
  const ask = (words: string) => keyboard.ask(words, signal);
  const say = (line: string) => output.write(`${line}\n`);
  const content = await askForm({ ask, say }, proposal.fields);
  return content === undefined ? undefined : { ...answer, content };
}

interface QuestionWords {
  readonly above: string;
  readonly words: string;
  readonly canBeAlways: boolean;
}

async function readAnswer(
  keyboard: Keyboard,
  { above: question, words, canBeAlways }: QuestionWords,
  signal: AbortSignal,
): Promise<TerminalAnswer | undefined> {
  for (let above = question; ; above = '') {
    const answers = canBeAlways ? 'y/a/n' : 'y/n';
    const typed = await keyboard.ask(`${words} [${answers}] `, signal, above);
    if (typed === undefined) return undefined;
    const answer = parseAnswer(typed, canBeAlways);
    if (answer?.decision !== 'reject') {
      if (answer !== null) return answer;
      continue;
    }
    const reason = answer.message ?? (await keyboard.ask('Why not (may stay empty)? ', signal));
    return reason === undefined ? undefined : { decision: 'reject', message: reason.trim() };
  }
}

/** Shows everything that the person approves, with no hidden characters. */
export function describeQuestion({ proposal }: ApprovalQuestion, reason: string): string {
  return [
    '',
    `Drawbridge asks: ${inPlainSight(proposal.tool)}`,
    ...describeProposal(proposal),
    `  (${inPlainSight(reason).replaceAll('\n', ' ')})`,
    `${yesWords(proposal, true)}; n rejects it.`,
    '',
  ].join('\n');
}

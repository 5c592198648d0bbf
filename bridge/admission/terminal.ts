/** Asks the person at the bridge's own terminal, one question after another. */

import { askForm } from '../../machine/ask-form.ts';
import { askPatterns, patternQuestion } from '../../machine/ask-patterns.ts';
import { Keyboard, type KeyInput, type KeyOutput, signalAll } from '../../machine/keyboard.ts';
import type { OpenQuestion } from '../../packages/host/index.ts';
import {
  type Choices,
  describeProposal,
  parseAnswer,
  yesWords,
} from '../../shared/shown/proposal.ts';
import { inPlainSight } from '../../shared/text/plain-sight.ts';
import type { TerminalAnswer, TerminalPrompt } from './askers.ts';

import { problemOfPattern } from './lasting.ts';

/** Undefined where there is no terminal. Then the bridge asks nothing here. */
export function createTerminalPrompt(
  input: KeyInput & MaybeTerminal,
  output: KeyOutput & MaybeTerminal,
): TerminalPrompt | undefined {
  if (!input.isTTY || !output.isTTY) return undefined;
  const keyboard = new Keyboard({ input, output, onInterrupt: interruptJob });
  let previous: Promise<unknown> = Promise.resolve();
  return {
    ask: (open, signal) => {
      const answer = previous.then(() => askOne({ open, signal, keyboard, output }));
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
  readonly open: OpenQuestion;
  readonly signal: AbortSignal;
  readonly keyboard: Keyboard;
  readonly output: NodeJS.WritableStream;
}

/** Holds the keyboard only during the question, so that the terminal is free in between. */
async function askOne(prompt: Prompt): Promise<TerminalAnswer | undefined> {
  const { open, signal, keyboard, output } = prompt;
  if (signal.aborted) return undefined;
  const { proposal } = open.question;
  const above = describeQuestion(open);
  const words = proposal.kind === 'elicitation' ? 'Answer it?' : 'Run it?';
  const choices = { canLast: open.lasting !== undefined, canBeAlways: true };
  const decided = await readAnswer(keyboard, { above, words, ...choices }, signal);
  const answer = decided && (await withPatterns(decided, prompt));
  // The question was withdrawn or the terminal was closed. Another device may still answer.
  if (answer === undefined) output.write('(The question was withdrawn.)\n');
  return answer;
}

/** A yes that lasts is for patterns, which the person can change. */
async function withPatterns(
  answer: TerminalAnswer,
  prompt: Prompt,
): Promise<TerminalAnswer | undefined> {
  const { question, lasting } = prompt.open;
  const { proposal } = question;
  if (answer.scope === undefined || !lasting) return await withValues(answer, prompt);
  const { ask, say } = asking(prompt);
  for (;;) {
    const pattern = await askPatterns(
      (asked) => ask(patternQuestion(asked)),
      proposal,
      lasting.pattern,
    );
    if (pattern === undefined) return undefined;
    const problem = problemOfPattern(proposal, pattern);
    if (problem === undefined) return { ...answer, pattern };
    say(`  ${inPlainSight(problem).replaceAll('\n', ' ')}`);
  }
}

function asking({ signal, keyboard, output }: Prompt) {
  return {
    ask: (words: string) => keyboard.ask(words, signal),
    say: (line: string) => void output.write(`${line}\n`),
  };
}

/** A yes to a server's question needs values. */
async function withValues(
  answer: TerminalAnswer,
  prompt: Prompt,
): Promise<TerminalAnswer | undefined> {
  const { proposal } = prompt.open.question;
  if (proposal.kind !== 'elicitation' || answer.decision === 'reject') return answer;
  const { ask, say } = asking(prompt);
  const content = await askForm({ ask, say }, proposal.fields);
  return content === undefined ? undefined : { ...answer, content };
}

interface QuestionWords extends Choices {
  readonly above: string;
  readonly words: string;
}

async function readAnswer(
  keyboard: Keyboard,
  { above: question, words, ...choices }: QuestionWords,
  signal: AbortSignal,
): Promise<TerminalAnswer | undefined> {
  for (let above = question; ; above = '') {
    const answers = choices.canLast ? 'y/c/a/n' : 'y/n';
    const typed = await keyboard.ask(`${words} [${answers}] `, signal, { above });
    if (typed === undefined) return undefined;
    const answer = parseAnswer(typed, choices);
    if (answer?.decision !== 'reject') {
      if (answer !== null) return answer;
      continue;
    }
    const reason = answer.message ?? (await keyboard.ask('Why not (may stay empty)? ', signal));
    return reason === undefined ? undefined : { decision: 'reject', message: reason.trim() };
  }
}

/** Shows everything that the person approves, with no hidden characters. */
export function describeQuestion({ question, reason, lasting }: OpenQuestion): string {
  const { proposal } = question;
  return [
    '',
    `Drawbridge asks: ${inPlainSight(proposal.tool)}`,
    ...describeProposal(proposal),
    `  (${inPlainSight(reason).replaceAll('\n', ' ')})`,
    `${yesWords(proposal, lasting && { ...lasting, always: true })}; n rejects it.`,
    '',
  ].join('\n');
}

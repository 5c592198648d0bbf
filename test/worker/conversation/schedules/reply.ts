/** What the model says in an attempt at a turn: as frames on the wire, and as the documents that must come of them. Pure. */
import type { Random } from '../../../../bench/fuzz/random.ts';
import type { Document } from '../../../../shared/wire/documents.ts';
import { endFrames, textFrame } from '../held-model.ts';
import type { PlannedTurn } from './turns.ts';

export interface Frames {
  /** What is shown, and ends with every fence closed. */
  readonly shown: readonly string[];
  readonly end: readonly string[];
}

/** Each attempt says something else, as a model does: a document that were mixed from two would show it. */
export function framesOf(
  planned: PlannedTurn,
  step: string,
  attempt: number,
  random: Random,
): Frames {
  const text = piecesOf(planned, step, attempt)
    .map(({ type, content }) => (type === 'text' ? content : `\`\`\`js\n${content}\n\`\`\``))
    .map((piece) => `${piece}\n\n`)
    .join('');
  const calls = callsOf(planned, step);
  const thought = planned.reasoning ? [reasoningFrame(thoughtOf(step, attempt))] : [];
  const shown = [...thought, ...slices(text, random).map(textFrame), ...calls];
  if (planned.kind === 'error_event')
    return { shown, end: [`data: ${JSON.stringify({ error: { message: 'overloaded' } })}\n\n`] };
  if (planned.kind === 'cut') return { shown, end: [] };
  return { shown, end: endFrames(calls.length > 0 ? 'tool_calls' : 'stop') };
}

/** A document as far as the model decides it; without content it only has a type. */
export type Expected = Pick<Document, 'type' | 'content'>;

/** The documents of a whole attempt, without the errors that may follow. */
export function documentsOf(planned: PlannedTurn, step: string, attempt: number): Expected[] {
  const { kind, calls, reasoning } = planned;
  if (kind === 'refused') return [];
  return [
    ...(reasoning ? [{ type: 'reasoning' as const, content: thoughtOf(step, attempt) }] : []),
    ...piecesOf(planned, step, attempt),
    ...(kind === 'todo' ? [{ type: 'todo_update' as const, content: null }] : []),
    ...(kind === 'question' ? [{ type: 'clarification' as const, content: titleOf(step) }] : []),
    ...calls.map(() => ({ type: 'tool_call' as const, content: null })),
  ];
}

function piecesOf({ pieces }: PlannedTurn, step: string, attempt: number): Expected[] {
  return Array.from({ length: pieces }, (_, piece) =>
    piece % 2 === 0
      ? { type: 'text', content: `Text ${step}.${piece} of attempt ${attempt}, and a 😀 in it.` }
      : { type: 'code_block', content: `let piece = '${step}.${piece}.${attempt}';` },
  );
}

function thoughtOf(step: string, attempt: number): string {
  return `Thinking about ${step}, attempt ${attempt}. `;
}

/** The path of a call names its step, so that the bridge can count by it. */
function callsOf({ kind, calls }: PlannedTurn, step: string): string[] {
  if (kind === 'todo') {
    return callFrames(0, step, 'todo_write', { merge: true, todos: [{ id: step, content: 'x' }] });
  }
  if (kind === 'question') return callFrames(0, step, 'ask_question', questionOf(step));
  return calls.flatMap(({ asks }, index) => {
    const path = `${step}.${index}${asks ? '.asks' : ''}`;
    return callFrames(index, step, 'read_file', { target_file: path });
  });
}

/** Another one for each step: the third equal call would not be run. */
function questionOf(step: string) {
  const questions = [{ id: 'q', prompt: 'Which?', options: [option('a'), option('b')] }];
  return { title: titleOf(step), questions };
}

function titleOf(step: string): string {
  return `Before ${step}:`;
}

function option(id: string) {
  return { id, label: `Option ${id}` };
}

function callFrames(index: number, step: string, name: string, args: object): string[] {
  const text = JSON.stringify(args);
  const half = Math.ceil(text.length / 2);
  const id = `up_${step}_${index}`;
  const start = { index, id, type: 'function', function: { name, arguments: text.slice(0, half) } };
  const rest = { index, function: { arguments: text.slice(half) } };
  return [start, rest].map((call) => deltaFrame({ tool_calls: [call] }));
}

function reasoningFrame(text: string): string {
  return deltaFrame({ reasoning_content: text });
}

function deltaFrame(delta: object): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, finish_reason: null, delta }] })}\n\n`;
}

/** In pieces of 1 to 24 characters, never inside of one: JSON has no half characters. */
function slices(text: string, random: Random): string[] {
  const characters = [...text];
  const pieces: string[] = [];
  while (characters.length > 0) pieces.push(characters.splice(0, 1 + random.below(24)).join(''));
  return pieces;
}

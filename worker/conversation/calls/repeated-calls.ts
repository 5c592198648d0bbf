/** Finds calls that a model repeats within a run although they gave the same result each time. Pure. */

import { RUN_LIMITS } from '../../../shared/limits.ts';
import type { Tool, Toolbox } from '../../../shared/tools/toolbox.ts';
import { canonicalJson } from '../../../shared/wire/approval-text.ts';
import { failure, type ToolResult } from '../../../shared/wire/tunnel.ts';
import type { Call, Turn } from '../store/rows.ts';

/** What the run has done so far. */
export interface DoneSoFar {
  /** The turns of the run up to that of the call, in order. */
  readonly turns: readonly Pick<Turn, 'number' | 'calls' | 'own'>[];
  readonly toolbox: Toolbox;
  /** The numbers of turns before what a person said or changed during the run. */
  readonly spokenAfter: ReadonlySet<number>;
  /** The result of the call at this index of a turn; null without one. */
  resultOf(turn: number, index: number): ToolResult | null;
  /** The model gets nothing, or only notes, of the results up to the turn with this number. */
  leftOutThrough(): number;
}

/**
 * The result that RUN_LIMITS.repeatedCalls - 1 turns in a row have got for the same call; null where the call repeats
 * nothing. Equal calls of one turn count once. Nothing else may have been done between: another call that can change
 * something, or a message of a person, ends the row. So does a result that the model no longer reads.
 */
export function repeatedResult(call: Call, done: DoneSoFar): ToolResult | null {
  const tool = call.arguments ? done.toolbox.find(call.name) : undefined;
  if (!tool || done.turns.at(-1)?.own) return null; // Drawbridge reads the results of its own calls itself.
  const isEqual = equalTo(call, tool, done.toolbox);
  let same: ToolResult | null = null;
  let count = 0;
  for (const [place, { number, calls, own }] of [...done.turns.entries()].reverse()) {
    const isBroken = calls.some((other) => !isEqual(other) && doesSomething(other, done.toolbox));
    if (isBroken && !own) return null;
    const isOwnTurn = place === done.turns.length - 1;
    const results = isOwnTurn || own ? [] : resultsIn({ number, calls }, isEqual, done);
    for (const result of results) {
      same ??= result;
      if (!isSame(result, same)) return null;
    }
    if (results.length > 0) count += 1;
    if (count === RUN_LIMITS.repeatedCalls - 1) {
      return number > done.leftOutThrough() ? same : null;
    }
    if (done.spokenAfter.has(place)) return null;
  }
  return null;
}

/** Whether a call of the tool can change something, so that the guard stops it before it runs. */
export function canChange({ effect, executor }: Pick<Tool, 'effect' | 'executor'>): boolean {
  return effect !== 'read' || executor === 'agent'; // A subagent may do what the agent may.
}

/** Whether something may be different after the call. After a question it is: a person has answered. */
function doesSomething({ name, arguments: args }: Call, toolbox: Toolbox): boolean {
  const tool = args ? toolbox.find(name) : undefined;
  return tool !== undefined && (canChange(tool) || tool.document.type === 'clarification');
}

function equalTo(call: Call, tool: Tool, toolbox: Toolbox): (other: Call) => boolean {
  const text = canonicalJson(call.arguments ?? {});
  return ({ name, arguments: args }) =>
    args !== null && toolbox.find(name) === tool && canonicalJson(args) === text;
}

/** The results of the equal calls of a turn, without the guard's own words. A call that it stopped has none. */
function resultsIn(
  { number, calls }: Pick<Turn, 'number' | 'calls'>,
  isEqual: (other: Call) => boolean,
  { resultOf }: DoneSoFar,
): ToolResult[] {
  return calls.flatMap((other, index) => {
    const result = isEqual(other) ? resultOf(number, index) : null;
    if (!result || (result.status === 'error' && result.code === REPEATED_CODE)) return [];
    const { data } = result;
    return { ...result, data: data.endsWith(NOTE) ? data.slice(0, -NOTE.length) : data };
  });
}

/** Whether the model reads the same in both. */
export function isSame(one: ToolResult, other: ToolResult): boolean {
  return textOf(one) === textOf(other);
}

function textOf(result: ToolResult): string {
  return `${result.status === 'error' ? result.code : ''}\n${result.data}`;
}

/** The result of a call that could run and has given the same once more, with a note for the model. */
export function noted(result: ToolResult): ToolResult {
  return { ...result, data: `${result.data}${NOTE}` };
}

const REPEATED_CODE = 'REPEATED_CALL';

const NOTE = `\n\n[${REPEATED_CODE}: you have made this call ${RUN_LIMITS.repeatedCalls} times or more, the result was the same each time, and nothing was changed in between. Work with this result, or try another way.]`;

/** The reason that the person reads. */
export const REPEATED_REASON = `The model has made this call ${RUN_LIMITS.repeatedCalls - 1} times or more already, with the same result each time, and nothing has changed in between.`;

/** The result of a call that was stopped because no person can be asked about it. `result` is that of the call before. */
export function stopped({ status, data }: ToolResult): ToolResult {
  const how = status === 'success' ? 'succeeded' : 'failed';
  return failure(
    REPEATED_CODE,
    `Not run: you have made this call ${RUN_LIMITS.repeatedCalls - 1} times or more with the same result, and nothing was changed in between. Work with that result, or try another way. The call before ${how} with:\n${data}`,
  );
}

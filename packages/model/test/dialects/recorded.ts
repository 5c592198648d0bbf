/**
 * Answers of real servers, from recordings in public repositories. `recorded/` keeps what the servers sent: events and
 * their order, fields, the cuts between deltas, the shapes of ids. All words, ids and signatures are made up. Long runs
 * of deltas, lists of tools and results of searches are shortened.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ModelSwitches } from '../../../../shared/settings/models.ts';
import type { UpstreamCall } from '../../calls.ts';
import { DIALECTS } from '../../dialects/dialects.ts';
import type { UpstreamReply } from '../../reader.ts';
import type { UpstreamMessage } from '../../request.ts';
import { expectReply } from '../reply-case.ts';
import { someSplitsOf } from '../splits.ts';
import { targetOf } from '../target.ts';

export interface Recorded {
  /** The file in `recorded/`, without `.sse`. */
  readonly name: string;
  /** The server and the model. */
  readonly server: string;
  /** The repository and the file of the recording. */
  readonly from: string;
  readonly reply: Partial<UpstreamReply>;
}

type NativeDialect = 'anthropic' | 'responses';

/** Checks the reply at many splits. */
export function expectRecorded(dialect: NativeDialect, { name, reply }: Recorded): void {
  const body = readFileSync(join(import.meta.dirname, 'recorded', `${name}.sse`), 'utf8');
  expectReply(body, reply, () => DIALECTS[dialect].newReader('m'), someSplitsOf);
}

/** What the next request says of the reply and of its calls' results: messages, or items. */
export function sentAgain(dialect: NativeDialect, { reply }: Recorded): readonly object[] {
  const { text = '', reasoningDetails = [], calls = [] } = reply;
  const made = calls.map(({ id, name, rawArguments }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: rawArguments },
  }));
  const messages: UpstreamMessage[] = [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: text, reasoning_details: reasoningDetails, tool_calls: made },
    ...calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: 'ok' })),
  ];
  const target = targetOf({ dialect, upstreamId: 'm', switches: ModelSwitches.parse({}) });
  const request = { model: 'm', messages, tools: [], isOnce: true as const };
  const body = JSON.parse(JSON.stringify(DIALECTS[dialect].format(request, target)));
  return (body.messages ?? body.input).slice(1);
}

/** A call that may run, as the reply holds it. */
export function called(id: string, name: string, rawArguments: string): UpstreamCall {
  return { id, name, rawArguments, arguments: JSON.parse(rawArguments), mayExecute: true };
}

/** The reasoning details of a reply: blocks or items, and the place of each. */
export function thoughts(
  dialect: NativeDialect,
  ...items: readonly (readonly [place: number, item: object])[]
): readonly object[] {
  return items.map(([place, item]) => ({ dialect, model: 'm', place, item }));
}

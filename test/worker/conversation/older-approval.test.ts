/** A question that was stored before questions had a nonce. */

import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import { MIGRATIONS } from '../../../worker/conversation/store/schema.ts';
import { call } from '../api.ts';
import { QUICK_REFUSALS, quicken } from '../follow/watching.ts';
import { olderTables } from '../older-tables.ts';
import { connectBridge, NONCE, openBridge } from '../tunnel/scripted-bridge.ts';
import { askStreamed, conversationObject, readResponse } from './conversing.ts';
import { holdModel, runCommand } from './held-model.ts';

/** The version that first had nonces. */
const WITH_NONCES = 5;
const REASON = 'It runs a command.';

it.each([
  [
    'with plain arguments',
    { command: 'make "all" \ud800', permissions: ['network'], n: 1e21 },
    true,
  ],
  ['with arguments that nest deeper than is read', { command: 'make', deep: nested(2_000) }, false],
])('%s is shown and asked again, or ends its run as unreadable', async (_, args, isRead) => {
  const model = holdModel();
  const bridge = await connectBridge();
  const streamed = await askStreamed({ bridgeId: bridge.bridgeId });
  (await model.next()).answer({ calls: [runCommand('make')] });
  const { callId } = await bridge.nextCall();
  bridge.ask(callId);
  await streamed.reader.untilType('approval_request');
  await bridge.leave();
  const stub = conversationObject(streamed.conversationId);
  const before = await toOlderForm();
  await evictDurableObject(stub);

  const { status, documents } = await readResponse(streamed.responseId);
  if (!isRead) {
    expect({ status, code: documents.at(-1)?.metadata['errorCode'] }).toEqual({
      status: 'error',
      code: 'UNREADABLE',
    });
    return await streamed.reader.leave();
  }
  expect(status).toBe('waiting');
  const proposal = { kind: 'call', tool: 'run_terminal_cmd', arguments: args };
  const { bridgeId } = bridge;

  const approval = { callId, bridgeId, nonce: 'protocol-2', proposal, reason: REASON };
  expect(documents[0]?.metadata['approval']).toEqual(approval);
  expect(await tapeOf()).toHaveLength(before.length);

  const back = await openBridge({ bridgeId });
  expect((await back.greet()).calls).toHaveLength(1);
  back.ask(callId);
  await vi.waitFor(async () => {
    const [document] = (await readResponse(streamed.responseId)).documents;
    expect(document?.metadata['approval']).toMatchObject({ nonce: NONCE });
  });
  const body = { nonce: NONCE, decision: 'reject' };
  const path = `conversations/${streamed.conversationId}/approvals/${callId}`;
  quicken(QUICK_REFUSALS);
  expect((await call(path, { body })).status).toBe(200);
  expect((await back.next('approval')).answer).toEqual({ callId, ...body });
  await streamed.reader.leave();

  async function tapeOf(): Promise<TapeEvent[]> {
    return await runInDurableObject(stub, (_object, { storage: { sql } }) =>
      sql
        .exec<{ body: string }>('select body from tape order by position')
        .toArray()
        .flatMap(({ body: events }) => JSON.parse(events) as TapeEvent[]),
    );
  }

  /** As the version before has stored it. */
  async function toOlderForm(): Promise<TapeEvent[]> {
    const makeOlder = await olderTables(MIGRATIONS, WITH_NONCES - 1);
    await runInDurableObject(stub, (_object, { storage: { sql } }) => {
      for (const row of sql
        .exec<{ position: number; body: string }>('select position, body from tape')
        .toArray()) {
        const events = (JSON.parse(row.body) as TapeEvent[]).map((event) => {
          if (event.type !== 'approval_request') return event;
          const { type, documentId } = event;
          const toolName = 'run_terminal_cmd';
          return { type, documentId, callId, toolName, arguments: args, reason: REASON };
        });
        const older = JSON.stringify(events);
        sql.exec('update tape set body = ? where position = ?', older, row.position);
      }
      makeOlder(sql);
    });
    expect(MIGRATIONS.length).toBeGreaterThanOrEqual(WITH_NONCES);
    return await tapeOf();
  }
});

function nested(depth: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

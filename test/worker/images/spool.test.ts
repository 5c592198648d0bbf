/** What stays of large images when a request, a conversation or its private text ends while they are taken. */
import { env, listDurableObjectIds, runInDurableObject, SELF } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { sha256 } from '../../../shared/text/sha256.ts';
import { HOUR } from '../../../shared/units.ts';
import { newTraceId } from '../../../shared/wire/trace.ts';
import type { Conversation } from '../../../worker/conversation/object.ts';
import type { Env } from '../../../worker/env.ts';
import { markerOf } from '../../../worker/images/marker.ts';
import type { Submission } from '../../../worker/ports/conversation.ts';
import { call, chat, scriptModel, tokenFor } from '../api.ts';
import { conversationObject, newAccount } from '../conversation/conversing.ts';
import { shiftClock } from '../conversation/shifted-clock.ts';

const PIECE = '/9j/'.repeat(1_000);

/** The pieces that an object holds; -1 where it has no table of them. */
async function rowsOf(object: DurableObjectStub<Conversation>): Promise<number> {
  return await runInDurableObject(object, (_, { storage: { sql } }) => {
    const [table] = sql.exec("select 1 from sqlite_master where name = 'images'").toArray();
    return table ? Number(sql.exec('select count(*) as count from images').one()['count']) : -1;
  });
}

/** The objects that hold pieces, without conversations that were there before. */
async function holders(before: ReadonlySet<string>): Promise<number> {
  const ids = (await listDurableObjectIds(env.CONVERSATIONS)).filter(
    (id) => !before.has(String(id)),
  );
  const rows = await Promise.all(ids.map((id) => rowsOf(env.CONVERSATIONS.get(id))));
  return rows.filter((count) => count > 0).length;
}

async function objectsNow(): Promise<Set<string>> {
  return new Set((await listDurableObjectIds(env.CONVERSATIONS)).map(String));
}

it('an upload that is cut off leaves nothing', async () => {
  const before = await objectsNow();
  const left = new AbortController();
  const content = `data:image/jpeg;base64,${'AbC+'.repeat(500_000)}`;
  const begun = `{"messages":[{"role":"user","content":[{"image_url":{"url":"${content}`;
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const sending = SELF.fetch('https://drawbridge.test/api/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${await tokenFor({ account: newAccount() })}` },
    body: readable,
    signal: left.signal,
  }).catch(() => undefined);
  await writer.write(new TextEncoder().encode(begun));
  await expect.poll(() => holders(before), { timeout: 10_000 }).toBeGreaterThan(0);
  left.abort();
  void writer.abort().catch(() => undefined);
  await sending;
  await expect.poll(() => holders(before), { timeout: 5_000 }).toBe(0);
});

/** A message with an image of these pieces. */
async function submissionOf(pieces: readonly string[], more: object = {}): Promise<Submission> {
  const digests = await Promise.all(pieces.map(sha256));
  const marker = markerOf({ chars: pieces.join('').length, digests });
  const url = `data:image/jpeg;base64,${marker}`;
  const content = [{ type: 'image_url' as const, image_url: { url } }];
  return {
    request: {
      type: 'message',
      model: 'scripted',
      mode: 'agent',
      messages: [{ role: 'user', content }],
      trace: newTraceId(crypto.randomUUID()),
      createdMs: Date.now(),
      ...more,
    },
    device: undefined,
    delivery: 'queue',
    ownFields: [],
    images: { id: 'conv_00000000-0000-4000-8000-000000000009', markers: [marker] },
    create: null,
  };
}

/** Calls a conversation whose requests find these pieces. `between` happens before it gets one. */
async function withPieces<Result>(
  conversationId: string,
  pieces: readonly string[],
  work: (conversation: Conversation) => Promise<Result>,
  between: (piece: string, conversation: Conversation) => Promise<unknown>,
): Promise<Result> {
  const known = new Map<string, string>();
  for (const piece of pieces) known.set(await sha256(piece), piece);
  return await runInDurableObject(conversationObject(conversationId), async (conversation) => {
    const spool = {
      async imagePiece(digest: string) {
        const piece = known.get(digest) ?? '';
        await between(piece, conversation);
        return piece;
      },
      async dropImages() {},
    };
    const { env: own } = conversation as unknown as { env: Env };
    const CONVERSATIONS = { idFromName: (name: string) => name, get: () => spool };
    Object.assign(conversation, { env: { ...own, CONVERSATIONS } });
    try {
      return await work(conversation);
    } finally {
      Object.assign(conversation, { env: own });
    }
  });
}

/** Sends a message with an image. What happens `between` does so while the conversation waits for its piece. */
async function submitWith(
  { conversationId, account }: { conversationId: string; account: string },
  between: (conversation: Conversation) => Promise<unknown>,
): Promise<unknown> {
  const submission = await submissionOf([PIECE]);
  const caller = { account, conversationId, trace: newTraceId(crypto.randomUUID()) };
  const submit = (conversation: Conversation) => conversation.submit(caller, submission);
  return await withPieces(conversationId, [PIECE], submit, (_, conversation) =>
    between(conversation),
  );
}

it('a message that is refused takes no piece along that another one has found', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'I see.' }));
  const { conversationId } = await chat('Hello.', { account });
  const other = `${PIECE}AAAA`;
  const wantedMode = { name: 'no-such-mode', isModelOpen: false };
  const refused = await submissionOf([PIECE, other], { wantedMode });
  const taken = await submissionOf([PIECE]);
  const caller = { account, conversationId, trace: newTraceId(crypto.randomUUID()) };
  const outcome = await withPieces(
    conversationId,
    [PIECE, other],
    (conversation) => conversation.submit(caller, refused),
    async (piece, conversation) => {
      if (piece === other)
        expect(await conversation.submit(caller, taken)).toMatchObject({ ok: true });
    },
  );
  expect(outcome).toMatchObject({ ok: false, code: 'UNKNOWN_MODE' });
  expect(await rowsOf(conversationObject(conversationId))).toBe(1);
});

it('a private conversation whose text is deleted meanwhile gets no image any more', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'I see.' }));
  const { id, conversationId } = await chat('Hello.', { account, deleteAfterHours: 1 });
  expect(id).toContain('chat_');
  const clock = shiftClock();
  await submitWith({ conversationId, account }, async (conversation) => {
    clock.aheadMs = HOUR + 1_000;
    await conversation.alarm();
  }).catch(() => undefined);
  expect(await rowsOf(conversationObject(conversationId))).toBe(0);
});

it('a message to a conversation that is deleted meanwhile is refused as to one that never was', async () => {
  const account = newAccount();
  scriptModel(() => ({ text: 'I see.' }));
  const { id, conversationId } = await chat('Hello.', { account });
  expect(id).toContain('chat_');
  const taken = submitWith({ conversationId, account }, async (conversation) => {
    await conversation.delete({ account, conversationId, trace: newTraceId(crypto.randomUUID()) });
  });
  await expect(taken).resolves.toMatchObject({ ok: false, code: 'NOT_FOUND' });
});

it('many small images of one request are no rows each', async () => {
  const before = await objectsNow();
  scriptModel(() => ({ text: 'I see.' }));
  const url = (base64: string) => ({ url: `data:image/png;base64,${base64}` });
  const small = Array.from({ length: 2_000 }, (_, index) => url(`${index}`.padStart(1_000, 'A')));
  // Nothing reads this field, and the request is refused: yet every image of it is held first.
  const unknown = [url('A'.repeat(260_000)), ...small];
  const body = { messages: [{ role: 'user', content: 'Hello.' }], unknown };
  const answered = call('chat/completions', { body, account: newAccount() });
  const isDone = answered.then(() => true);
  let most = 0;
  while (!(await Promise.race([isDone, scheduler.wait(50).then(() => false)]))) {
    for (const id of await listDurableObjectIds(env.CONVERSATIONS)) {
      if (!before.has(String(id))) most = Math.max(most, await rowsOf(env.CONVERSATIONS.get(id)));
    }
  }
  expect((await answered).status).toBe(413);
  expect(most).toBeLessThan(100);
});

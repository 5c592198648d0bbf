import { expect, it } from 'vitest';
import type { ChatResponse } from '../../../shared/wire/documents.ts';
import type { ScriptedRequest } from '../../far-ends/reply-script.ts';
import { streamOf } from '../../far-ends/reply-script.ts';
import { call, chat, type ModelAnswer, scriptModel } from '../api.ts';
import { configure } from '../settings.ts';
import { askStreamed, cancel, readView } from './conversing.ts';
import { endFrames, holdModel, textFrame } from './held-model.ts';

const SUMMARY = 'Goal: the port is 4711.';

it('a conversation is summarised at a wish, and goes on with the summary in place of what was said', async () => {
  const requests = scriptModel(answering(SUMMARY));
  const { conversationId, responses } = await converse(2);
  const compacted = await compact(conversationId);
  expect(compacted).toMatchObject({
    status: 'completed',
    documents: [{ type: 'text', content: 'The conversation is summarised.' }],
    usage: { totalTokens: 500 },
  });
  await chat('question 3!', { conversationId });
  const last = JSON.stringify(requests.at(-1)?.messages);
  expect(last).toContain(SUMMARY);
  expect(last).not.toContain('answer to question');
  for (let turn = 1; turn <= 3; turn++) expect(last).toContain(`question ${turn}!`);
  const view = await readView(conversationId);
  expect(view.responses.slice(0, 2).map(({ documents }) => documents)).toEqual(
    responses.map(({ documents }) => documents),
  );
});

it('a conversation of which no summary is made stays as it was, and counts what the attempt took', async () => {
  const requests = scriptModel(answering(' '));
  const { conversationId } = await converse(2);
  expect(await compact(conversationId)).toMatchObject({
    status: 'error',
    usage: { totalTokens: expect.any(Number) },
  });
  await chat('question 3!', { conversationId });
  expect(JSON.stringify(requests.at(-1)?.messages)).toContain('answer to question 1!');
});

it('a summary takes no message that steers, and is cancelled like an answer', async () => {
  scriptModel(answering(SUMMARY));
  const { conversationId } = await converse(1);
  const model = holdModel();
  const running = compact(conversationId);
  await model.next();
  const queued = await askStreamed({ conversationId, delivery: 'steer' });
  const { responses } = await readView(conversationId);
  const responseId = responses.at(-1)?.id ?? '';
  expect(queued.responseId).not.toBe(responseId);
  await cancel(responseId);
  expect(await running).toMatchObject({ status: 'cancelled' });
  const next = await model.next();
  expect(JSON.stringify(next.request.messages)).toContain('answer to question 1!');
  next.answer({ text: 'Done.' });
  await queued.reader.toEnd();
});

it('a summary is made by the model for summaries', async () => {
  const digester = { id: 'digester', roles: ['summary'], prices: { input: 1_000, output: 0 } };
  configure({ MODELS: [{ id: 'small', contextWindow: 10_000 }, digester] });
  const requests = scriptModel(answering(SUMMARY));
  const { conversationId } = await converse(1);
  await compact(conversationId);
  expect(requests.at(-1)?.model).toBe('digester');
});

async function converse(count: number) {
  const responses: ChatResponse[] = [];
  for (let turn = 1; turn <= count; turn++) {
    const conversationId = responses[0]?.conversationId;
    responses.push(await chat(`question ${turn}!`, { conversationId }));
  }
  return { conversationId: responses[0]?.conversationId ?? '', responses };
}

async function compact(conversationId: string): Promise<ChatResponse> {
  const answer = await call(`conversations/${conversationId}/compact`, {
    method: 'POST',
    body: {},
  });
  expect(answer.status).toBe(200);
  return await answer.json<ChatResponse>();
}

function answering(summary: string) {
  return ({ messages }: ScriptedRequest): ModelAnswer => {
    if (!String(messages[0]?.content).includes('You write a summary')) {
      const asked = messages.findLast(({ role }) => role === 'user');
      const [, question] = /(question \d!)/.exec(String(asked?.content)) ?? [];
      return { text: `The answer to ${question}` };
    }
    const counted = { prompt_tokens: 500, completion_tokens: 0, total_tokens: 500 };
    return streamOf([textFrame(summary), ...endFrames('stop', counted)]);
  };
}

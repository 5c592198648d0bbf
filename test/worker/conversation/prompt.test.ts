import { expect, it } from 'vitest';
import type { ScriptedRequest } from '../../far-ends/reply-script.ts';
import { ask, chat, errorOf, scriptModel } from '../api.ts';
import { configure } from '../settings.ts';
import { connectBridge } from '../tunnel/scripted-bridge.ts';
import { readFile } from './held-model.ts';

it('the deployment’s own blocks stand in the next request, for their modes', async () => {
  const requests = scriptModel(() => ({ text: 'Ok.' }));
  const { conversationId } = await chat('one');
  configure({
    PROMPT_BLOCKS: [
      { change: 'append', block: 'communication', text: 'Answer in French.', modes: ['ask'] },
    ],
  });
  await chat('two', { conversationId });
  await chat('three', { conversationId, mode: 'ask' });
  const [one, two, three] = requests.map(systemOf);
  expect(one).toBe(two);
  expect(three).toContain('\nAnswer in French.\n</communication>');
});

it('the deployment’s own blocks are refused where they are wrong, with the field, and nothing is stored', async () => {
  const requests = scriptModel(() => ({ text: 'Ok.' }));
  const { conversationId } = await chat('one');
  configure({ PROMPT_BLOCKS: [{ change: 'omit', block: 'trust' }] });
  expect(await errorOf(await ask('Never stored', { conversationId }))).toMatchObject({
    status: 500,
    code: 'NOT_CONFIGURED',
    message: 'PROMPT_BLOCKS[0].block: trust can only be appended to',
  });
  configure({ PROMPT_BLOCKS: undefined });
  await chat('three', { conversationId });
  expect(JSON.stringify(requests.at(-1)?.messages)).not.toContain('Never stored');
});

it('the deployment’s own blocks fail the run with their code where they become wrong during it', async () => {
  const bridge = await connectBridge();
  scriptModel((_, number) => (number === 0 ? { calls: [readFile('a.ts')] } : { text: 'Ok.' }));
  const answer = chat('go', { bridgeId: bridge.bridgeId });
  const { callId } = await bridge.nextCall();
  configure({ PROMPT_BLOCKS: '{}' });
  bridge.succeed(callId, 'content');
  expect((await answer).documents.at(-1)).toMatchObject({
    type: 'error',
    metadata: { errorCode: 'NOT_CONFIGURED' },
  });
});

it('a family of models gets its words and its order of tools, by the name at the server', async () => {
  configure({ MODELS: [{ id: 'quick', upstreamId: 'vendor/coder-7b' }, { id: 'big' }] });
  const bridge = await connectBridge();
  const requests = scriptModel(() => ({ text: 'Ok.' }));
  const { conversationId } = await chat('one', { bridgeId: bridge.bridgeId, model: 'quick' });
  await chat('two', { conversationId, model: 'big' });
  const edits = ['write', 'str_replace', 'edit_file'];
  const orders = requests.map(({ tools = [] }) =>
    tools.map((tool) => tool.function.name).filter((name) => edits.includes(name)),
  );
  expect(orders).toEqual([edits, ['str_replace', 'edit_file', 'write']]);
  expect(systemOf(requests[0])).toContain('Rewrite short files as a whole with write.');
  expect(systemOf(requests[1])).not.toContain('Rewrite short files as a whole with write.');
});

function systemOf(request: ScriptedRequest | undefined): string {
  return String(request?.messages[0]?.content);
}

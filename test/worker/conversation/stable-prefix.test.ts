import { evictDurableObject } from 'cloudflare:test';
import { expect, it } from 'vitest';
import type { ChatResponse } from '../../../shared/wire/documents.ts';
import type { RuleFile } from '../../../shared/wire/rules.ts';
import type { MachineContext } from '../../../shared/wire/tunnel.ts';
import type { ScriptedCall, ScriptedRequest } from '../../far-ends/reply-script.ts';
import { call, chat, scriptModel } from '../api.ts';
import { connectLookingBridge, contextOf, type ScriptedBridge } from '../tunnel/scripted-bridge.ts';
import { conversationObject, untilCompleted } from './conversing.ts';
import { readFile, runCommand } from './held-model.ts';

const AGENTS: RuleFile = {
  path: 'AGENTS.md',
  origin: 'workspace',
  kind: 'always',
  folder: '.',
  text: 'Use tabs.',
};
const TYPES: RuleFile = {
  path: '.cursor/rules/ts.mdc',
  origin: 'workspace',
  kind: 'glob',
  folder: '.',
  globs: ['*.ts'],
  text: 'No any.',
};

const PLAN = {
  name: 'Tabs',
  overview: 'Makes tabs of spaces.',
  plan: 'Only `b.ts`.',
  todos: [{ id: 'tabs', content: 'Replace them', dependencies: [] }],
};

const EDITED = {
  version: 1,
  title: 'Tabs first',
  overview: PLAN.overview,
  content: 'Also `c.ts`.',
  todos: [{ id: 'tabs', content: 'Replace them all', dependencies: [] }],
};

it('begins each of 20 requests with the bytes of the one before, whatever changes around them', async () => {
  const { bridge, requests, say, conversationId } = await conversation();
  await say('Read it.', [readFile('a.ts')]); // The second rule begins to apply in the middle of the run.
  bridge.sees = seen({ gitStatus: '## main\n M a.ts\n', projectLayout: 'a.ts\nb.ts' });
  await say('Edit it.', [edit('a.ts'), edit('b.ts')]);
  bridge.sees = seen({
    rules: { files: [{ ...AGENTS, text: 'Use spaces.' }, TYPES], leftOut: [] },
  });
  await say('Run it.', [runCommand('make')], ['asked']);
  await say('List it.', [todos('pending')], []);
  await say('Plan it.', [{ name: 'create_plan', arguments: PLAN }], []);
  const plan = await editPlan(conversationId());
  await say('What now?');
  await evictDurableObject(conversationObject(conversationId()));
  await say(plan, [todos('in_progress'), edit('b.ts'), todos('completed')], ['done']);
  const context = { openFiles: [{ path: 'a.ts', content: 'let a = 1;' }], linterErrors: [] };
  await say('And here?', [], [], { context });
  bridge.sees = seen({ gitStatus: '## feature\n', projectLayout: 'c.ts', rules: undefined });
  await say('And now?', [readFile('c.ts')]);
  await say('Last.');
  expect(requests.length).toBe(20);
  for (const [index, request] of requests.slice(1).entries()) {
    const [before, now] = [bytesOf(requests[index]), bytesOf(request)];
    expect(now.messages.slice(0, before.messages.length)).toBe(before.messages);
    expect(now.rest).toBe(before.rest);
  }
  const sent = JSON.stringify(requests.at(-1)?.messages);
  for (const part of [
    'git_status',
    'Use spaces.',
    'No any.',
    'Also `c.ts`.',
    '<executing_a_plan>',
  ]) {
    expect(sent).toContain(part);
  }
});

/** The body as it was sent: nothing between its values is written but what JSON demands. */
function bytesOf(request: ScriptedRequest | undefined) {
  const { messages = [], ...rest } = request ?? {};
  return { messages: JSON.stringify(messages).slice(0, -1), rest: JSON.stringify(rest) };
}

async function conversation() {
  const bridge = await connectLookingBridge();
  bridge.sees = seen({});
  let turns: ScriptedCall[] = [];
  const requests = scriptModel(() => {
    const next = turns.shift();
    return next ? { calls: [next] } : { text: 'Ok.' };
  });
  let id: string | undefined;
  /** `words`, or the path of a plan to execute; then the model's calls, one a turn, and what the bridge does. */
  const say = async (
    words: string,
    calls: ScriptedCall[] = [],
    works: readonly ('done' | 'asked')[] = calls.map(() => 'done'),
    more: object = {},
  ) => {
    turns = [...calls];
    const place = id === undefined ? { bridgeId: bridge.bridgeId } : { conversationId: id };
    const answer: Promise<ChatResponse> = words.startsWith('conversations/')
      ? call(words, { body: {} }).then((response) => response.json())
      : chat(words, { ...place, ...more });
    for (const how of works) await carryOut(bridge, how);
    const response = await answer;
    id = response.conversationId;
    // An answer that had to wait for a person is read again.
    await untilCompleted(response.id);
  };
  return { bridge, requests, say, conversationId: () => id ?? '' };
}

function seen(more: Partial<MachineContext>): MachineContext {
  return { ...contextOf('a.ts'), rules: { files: [AGENTS, TYPES], leftOut: [] }, ...more };
}

async function carryOut(bridge: ScriptedBridge, how: 'done' | 'asked'): Promise<void> {
  const { callId } = await bridge.nextCall();
  if (how === 'asked') {
    bridge.ask(callId);
    bridge.resolve(callId);
  }
  bridge.succeed(callId, 'content');
}

/** Answers with the path that executes the plan. */
async function editPlan(conversationId: string): Promise<string> {
  const view = await (await call(`conversations/${conversationId}`)).json();
  const plan = JSON.stringify(view).match(/"id":"(doc_\d+)","type":"plan"/)?.[1];
  const path = `conversations/${conversationId}/plans/${plan}`;
  expect((await call(path, { method: 'PUT', body: EDITED })).status).toBe(200);
  return `${path}/execute`;
}

function edit(path: string): ScriptedCall {
  const args = { file_path: path, old_string: '  ', new_string: '\t' };
  return { name: 'str_replace', arguments: args };
}

function todos(status: string): ScriptedCall {
  const list = [{ id: 'tabs', content: 'Replace them', status }];
  return { name: 'todo_write', arguments: { merge: true, todos: list } };
}

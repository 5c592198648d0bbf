import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ScriptedModel, startScriptedModel } from '../far-ends/scripted-model.ts';
import { type House, startHouse, until } from './house.ts';

let model: ScriptedModel;

beforeAll(async () => {
  model = await startScriptedModel(() => ({ text: 'Ok.' }));
});
afterAll(() => model.close());

it('shows the model a checkout and a new file between two messages, and of no more', async () => {
  await using house = await startHouse({ modelUrl: model.baseUrl, prepare: putRepository });
  const conversationId = await say(house, 'one');
  expect(toldLast()).toContain(`\nWorkspace: ${house.workspace}\n`);
  expect(toldLast()).toContain('<project_layout>\na.txt\nb.txt\nc.txt\n</project_layout>');
  expect(toldLast()).toContain('<git_status>\n## main\n');

  await say(house, 'two', conversationId);
  expect(toldLast()).toBe(query('two'));

  git(house.workspace, 'checkout', '--quiet', '-b', 'feature');
  writeFileSync(join(house.workspace, 'new.txt'), 'new\n');
  const layout = '<project_layout_changes>\n+ new.txt\n</project_layout_changes>';
  await sayUntilTold(house, conversationId, layout, '## feature\n?? new.txt\n');

  rmSync(join(house.workspace, 'new.txt'));
  await sayUntilTold(house, conversationId, '\n- new.txt\n');

  expect(sent().match(/\+ new\.txt/g)).toHaveLength(1);
  expect(sent().match(/<project_layout>/g)).toHaveLength(1);
  for (const [index, { messages }] of model.requests.entries()) {
    const next = model.requests[index + 1]?.messages ?? messages;
    expect(next.slice(0, messages.length)).toEqual(messages);
  }
});

/** On a busy machine a look can take longer than a run waits for it: then the next message shows what it saw. */
async function sayUntilTold(house: House, conversationId: string, ...news: string[]) {
  await until(async () => {
    await say(house, 'go on', conversationId);
    return news.every((part) => sent().includes(part));
  });
}

/** Everything that the model got with the newest request. */
function sent(): string {
  return (model.requests.at(-1)?.messages ?? []).map(({ content }) => content).join('\n');
}

async function say(house: House, content: string, conversationId?: string): Promise<string> {
  const body = JSON.stringify({ messages: [{ role: 'user', content }], conversationId });
  const response = await house.fetch('/api/v1/chat/completions', { method: 'POST', body });
  return ((await response.json()) as { conversationId: string }).conversationId;
}

/** The newest message as the model got it. */
function toldLast(): string {
  return String(model.requests.at(-1)?.messages.at(-1)?.content);
}

function query(words: string): string {
  return `<user_query>\n${words}\n</user_query>`;
}

function putRepository(workspace: string): void {
  for (const name of ['a.txt', 'b.txt', 'c.txt']) writeFileSync(join(workspace, name), `${name}\n`);
  git(workspace, 'init', '--quiet', '--initial-branch=main');
  git(workspace, 'add', '.');
  git(workspace, 'commit', '--quiet', '--message=first');
}

/** As a person would; the folder may be another user's. */
function git(workspace: string, ...args: string[]): void {
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
  execFileSync('git', ['-c', 'safe.directory=*', ...identity, ...args], { cwd: workspace });
}

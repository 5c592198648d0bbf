import { expect, it } from 'vitest';
import { CONVERSATION_ID, RESPONSE_ID } from '../../client/sample-tape.ts';
import { type ScriptedApi, startScriptedApi } from '../../client/scripted-api.ts';
import { callDrawbridge } from '../called.ts';

const TIME = '2026-11-20T12:00:00Z';
const INFO = {
  id: CONVERSATION_ID,
  title: 'Fix \u001b[31mit',
  status: 'completed',
  created: TIME,
  updated: TIME,
};
const AGENT = {
  ...INFO,
  bridgeId: null,
  responseId: RESPONSE_ID,
  model: 'm',
  mode: 'agent',
  usage: null,
  result: 'Fixed.\u001b[2J',
};
const LINE = `${CONVERSATION_ID}\tcompleted\t${TIME}\tFix it\n`;

it('an agent is started with what the options say', async () => {
  await using api = await startScriptedApi([]);
  const webhook = { url: 'https://x.test/', state: 'active', secret: 'whsec_1' };
  api.answers.set('POST agents', { ...AGENT, webhook });
  const args = [
    '--branch',
    'fix',
    '--commit',
    '--webhook',
    'https://x.test/',
    '--model',
    'm',
    '--max-turns',
    '7',
  ];
  const { stdout, stderr, code } = await run(api, 'create', ...args, 'Fix', 'it');
  expect(code).toBe(0);
  expect(stderr).toContain(`agents follow ${CONVERSATION_ID}`);
  expect(stdout).toContain("The webhook's secret, shown only now: whsec_1\n");
  expect(api.requests.map(({ body }) => body)).toEqual([
    {
      prompt: 'Fix it',
      branch: 'fix',
      commit: true,
      model: 'm',
      budget: { maxTurns: 7 },
      webhook: { url: 'https://x.test/' },
    },
  ]);
});

it('agents are listed by their status, page by page', async () => {
  await using api = await startScriptedApi([]);
  const path = 'GET agents?limit=100&status=running';
  api.answers.set(path, { items: [INFO], nextCursor: '1' });
  api.answers.set(`${path}&cursor=1`, { items: [INFO], nextCursor: null });
  expect(await run(api, 'list', '--status', 'running')).toEqual({
    code: 0,
    stderr: '',
    stdout: `${LINE}${LINE}`,
  });
});

it.each([
  { args: [], query: '', stderr: 'There is no agent.\n' },
  { args: ['--status', 'waiting'], query: '&status=waiting', stderr: 'No agent is waiting.\n' },
])('a list without an agent says so %o', async ({ args, query, stderr }) => {
  await using api = await startScriptedApi([]);
  api.answers.set(`GET agents?limit=100${query}`, { items: [], nextCursor: null });
  expect(await run(api, 'list', ...args)).toEqual({ code: 0, stdout: '', stderr });
});

it('an agent is shown with what it has changed, without control characters', async () => {
  await using api = await startScriptedApi([]);
  const files = [{ path: 'a\u001b[31m.ts', status: 'added', added: 1, removed: 0 }];
  const changed = { files, omitted: 0, diff: '+one\n', head: 'c', committed: true };
  const worktree = { branch: 'fix', base: 'b', uncommitted: false, ...changed };
  api.answers.set(`GET agents/${CONVERSATION_ID}`, { ...AGENT, worktree });
  const { stdout } = await run(api, 'show', CONVERSATION_ID);
  expect(stdout).toBe(
    `${LINE.trimEnd()}\n\nFixed.␛[2J\n\nOn the branch fix:\n  added a.ts +1 -0\n\n+one\n\n`,
  );
});

it('an agent whose work is in no commit is shown with the folder that has it', async () => {
  await using api = await startScriptedApi([]);
  const changed = { files: [], diff: '', head: 'b', committed: false, left: ['lib'] };
  const worktree = {
    branch: 'fix',
    base: 'b',
    uncommitted: false,
    path: '/state/tree',
    ...changed,
  };
  api.answers.set(`GET agents/${CONVERSATION_ID}`, { ...AGENT, worktree });
  const { stdout } = await run(api, 'show', CONVERSATION_ID);
  expect(stdout).toMatch(
    /:\n {2}in no commit: lib\n {2}Not committed: it is in \/state\/tree until you remove it\.\n$/,
  );
});

it('an agent whose bridge is away is shown with what is missing of its changes', async () => {
  await using api = await startScriptedApi([]);
  const worktree = { branch: 'fix', base: 'b', uncommitted: false, isClosing: true };
  api.answers.set(`GET agents/${CONVERSATION_ID}`, { ...AGENT, worktree });
  const { stdout } = await run(api, 'show', CONVERSATION_ID);
  expect(stdout).toMatch(
    /\n\nOn the branch fix:\n {2}The bridge has yet to report what the newest response changed\.\n$/,
  );
});

it.each([
  { args: ['followup', CONVERSATION_ID, 'More'], path: 'followup', body: { prompt: 'More' } },
  { args: ['stop', CONVERSATION_ID], path: 'stop', body: undefined },
  { args: ['archive', CONVERSATION_ID], path: 'archive', body: undefined },
  { args: ['unarchive', CONVERSATION_ID], path: 'unarchive', body: undefined },
])('$path', async ({ args, path, body }) => {
  await using api = await startScriptedApi([]);
  api.answers.set(`POST agents/${CONVERSATION_ID}/${path}`, AGENT);
  expect(await run(api, ...args)).toEqual({ code: 0, stdout: LINE, stderr: '' });
  expect(api.requests.map((request) => request.body)).toEqual([body]);
});

it.each([
  ['an empty prompt', ['create', ' ']],
  ['a branch in place', ['create', '--in-place', '--branch', 'x', 'go']],
  ['no id', ['stop', 'all']],
])('%s is refused', async (_, args) => {
  await using api = await startScriptedApi([]);
  expect((await run(api, ...args)).code).toBe(2);
  expect(api.requests).toEqual([]);
});

function run(api: ScriptedApi, ...args: string[]) {
  return callDrawbridge(['agents', ...args, '--url', api.url, '--token', 'token']);
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ConversationExport } from '../../../shared/api/conversations.ts';
import { CONVERSATION_ID } from '../../client/sample-tape.ts';
import { type ScriptedApi, startScriptedApi } from '../../client/scripted-api.ts';
import { temporaryFolder } from '../../local/temporary-folder.ts';
import { callDrawbridge } from '../called.ts';

const EXPORT = `GET conversations/${CONVERSATION_ID}/export`;
const CREATED = '2026-11-20T12:00:00Z';
const JSON_EXPORT: ConversationExport = {
  version: 1,
  exported: CREATED,
  conversation: {
    id: CONVERSATION_ID,
    title: 'Grüße',
    archived: false,
    created: CREATED,
    bridgeId: null,
    messages: [],
    responses: [],
  },
};
const MARKDOWN = '# Grüße\n\nExactly \u001b[31mthis\u001b[0m.\n';

it('an export is Markdown on stdout, as the API gives it', async () => {
  await using api = await startScriptedApi([]);
  api.fates.push({ type: 'text', text: MARKDOWN });
  expect(await runExport(api, CONVERSATION_ID)).toEqual({ code: 0, stdout: MARKDOWN, stderr: '' });
  expect(api.requests).toEqual([{ line: `${EXPORT}?format=markdown` }]);
});

it('an export as JSON is the whole conversation', async () => {
  await using api = await startScriptedApi([]);
  api.answers.set(EXPORT, JSON_EXPORT);
  const { stdout } = await runExport(api, '--format', 'json', CONVERSATION_ID);
  expect(JSON.parse(stdout)).toEqual(JSON_EXPORT);
});

it('an export into a file says nothing', async () => {
  await using api = await startScriptedApi([]);
  api.fates.push({ type: 'text', text: MARKDOWN });
  const file = join(temporaryFolder(), 'talk.md');
  const finished = await runExport(api, CONVERSATION_ID, '-o', file);
  expect(finished).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(readFileSync(file, 'utf8')).toBe(MARKDOWN);
});

it('an export that is refused leaves the file as it is', async () => {
  await using api = await startScriptedApi([]);
  const body = { error: { code: 'NOT_FOUND', message: 'No such conversation' } };
  api.fates.push({ type: 'refuse', status: 404, body });
  const file = join(temporaryFolder(), 'talk.md');
  expect(await runExport(api, CONVERSATION_ID, '-o', file)).toMatchObject({
    code: 1,
    stderr: 'drawbridge: error NOT_FOUND: No such conversation\n',
  });
  expect(() => readFileSync(file)).toThrow('ENOENT');
});

it.each([
  { args: ['conv_1'], code: 2, says: 'A conversation has an id like conv_…, not conv_1.' },
  { args: ['--format', 'pdf', CONVERSATION_ID], code: 2, says: 'markdown, json' },
  { args: [CONVERSATION_ID, '-o', '/no/such/folder/x'], code: 1, says: 'ENOENT' },
])('an export to $args fails with exit code $code', async ({ args, code, says }) => {
  await using api = await startScriptedApi([]);
  api.fates.push({ type: 'text', text: MARKDOWN });
  const finished = await runExport(api, ...args);
  expect(finished).toMatchObject({ code, stderr: expect.stringMatching(/^drawbridge: .*\n$/) });
  expect(finished.stderr).toContain(says);
});

function runExport(api: ScriptedApi, ...args: string[]) {
  return callDrawbridge(['export', '--url', api.url, '--token', 'token', ...args]);
}

import { describe, expect, it } from 'vitest';
import { confirm } from '../../../cli/conversations/changes.ts';
import { fitColumns, headerLine, type ListedRow, listLine } from '../../../cli/render/table.ts';
import { plain } from '../../../cli/terminal/paint.ts';
import { LocalError } from '../../../machine/local-error.ts';
import type { ConversationInfo } from '../../../shared/api/conversations.ts';
import { CONVERSATION_ID, RESPONSE_ID } from '../../client/sample-tape.ts';
import { type ScriptedApi, startScriptedApi } from '../../client/scripted-api.ts';
import { callDrawbridge } from '../called.ts';
import { scriptTerminal } from '../scripted-terminal.ts';

const UPDATED = '2026-11-20T12:00:00Z';
const ONE = `conversations/${CONVERSATION_ID}`;

describe('conversations', () => {
  it('in a pipe are a line each, whole, with tabs and without a header', async () => {
    await using api = await startScriptedApi([]);
    const title = 'Fix the\tlogin \u001b[31mnow';
    api.answers.set(list('archived=false&limit=20'), page([info({ title })]));
    expect(await run(api)).toEqual({
      code: 0,
      stdout: `${CONVERSATION_ID}\t${UPDATED}\tFix the login now\n`,
      stderr: '',
    });
  });

  it('as JSON are a line each, as the API gives them', async () => {
    await using api = await startScriptedApi([]);
    const items = [info({ title: 'Grüße\u009b2J' }), info({ archived: true })];
    api.answers.set(list('archived=false&limit=20'), page(items));
    const { stdout } = await run(api, '--json');
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(items);
    expect(stdout).toContain('Grüße\\u009b2J');
  });

  it('are looked for by words, in the archive', async () => {
    await using api = await startScriptedApi([]);
    api.answers.set(list('search=login+page&archived=true&limit=5'), page([]));
    const args = ['list', '--search', 'login page', '--archived', '--limit', '5'];
    const nothing = { code: 0, stdout: '', stderr: 'No conversations found.\n' };
    expect(await run(api, ...args)).toEqual(nothing);
    expect(await run(api, ...args, '--json')).toEqual({ ...nothing, stderr: '' });
  });

  it.each([
    { args: ['--limit', '150'], limits: [100, 50], lines: 150 },
    { args: ['--all'], limits: [100, 100, 100], lines: 250 },
  ])('come page by page: $args', async ({ args, limits, lines }) => {
    await using api = await startScriptedApi([]);
    const sizes = [100, Math.min(100, lines - 100), lines - 200];
    for (const [index, limit] of limits.entries()) {
      const cursor = index === 0 ? '' : `&cursor=${index}`;
      const items = Array.from({ length: sizes[index] ?? 0 }, () => info({}));
      const next = index === 2 ? null : String(index + 1);
      api.answers.set(list(`archived=false&limit=${limit}${cursor}`), page(items, next));
    }
    const { stdout } = await run(api, ...args);
    expect([api.requests.length, stdout.split('\n').length - 1]).toEqual([limits.length, lines]);
  });

  it.each([
    { args: ['rename', CONVERSATION_ID, 'The', 'login'], body: { title: 'The login' } },
    { args: ['archive', CONVERSATION_ID], body: { archived: true } },
    { args: ['unarchive', CONVERSATION_ID], body: { archived: false } },
  ])('can be changed: $args', async ({ args, body }) => {
    await using api = await startScriptedApi([]);
    api.answers.set(`PATCH ${ONE}`, info({}));
    expect(await run(api, ...args)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(api.requests).toEqual([{ line: `PATCH ${ONE}`, body }]);
  });

  it('can be forked: the new id is printed', async () => {
    await using api = await startScriptedApi([]);
    const forked = CONVERSATION_ID.replace('conv_0', 'conv_1');
    api.answers.set(`POST ${ONE}/forks`, { conversationId: forked });
    const fork = await run(api, 'fork', CONVERSATION_ID, RESPONSE_ID);
    expect(fork).toEqual({ code: 0, stdout: `${forked}\n`, stderr: '' });
    expect(api.requests).toMatchObject([{ body: { responseId: RESPONSE_ID } }]);
  });

  it('can be deleted, without a terminal only with --yes', async () => {
    await using api = await startScriptedApi([]);
    api.answers.set(`DELETE ${ONE}`, {});
    expect(await run(api, 'delete', CONVERSATION_ID)).toMatchObject({
      code: 2,
      stderr: 'drawbridge: There is no terminal to ask at: --yes deletes without asking.\n',
    });
    expect(api.requests).toEqual([]);
    expect(await run(api, 'delete', '--yes', CONVERSATION_ID)).toMatchObject({ code: 0 });
    expect(api.requests).toEqual([{ line: `DELETE ${ONE}` }]);
  });

  it.each([
    { args: ['archive', 'conv_1'], says: 'A conversation has an id like conv_…, not conv_1.' },
    { args: ['fork', CONVERSATION_ID, 'x'], says: 'A response has an id like chat_…, not x.' },
    { args: ['rename', CONVERSATION_ID, ' '], says: 'The title is not valid' },
    { args: ['delete', '-y', '../me'], says: 'A conversation has an id' },
    { args: ['--limit', '0'], says: 'It is a whole number from 1 to' },
    { args: ['--limit', '3', '--all'], says: 'cannot be used with' },
    { args: ['destroy'], says: 'destroy' },
  ])('refuse what cannot be, with exit code 2: $args', async ({ args, says }) => {
    await using api = await startScriptedApi([]);
    const { code, stderr } = await run(api, ...args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^drawbridge: .*\n$/)]);
    expect(stderr).toContain(says);
    expect(api.requests).toEqual([]);
  });

  it('show an error of the API in one line, with exit code 1', async () => {
    await using api = await startScriptedApi([]);
    const body = { error: { code: 'NOT_FOUND', message: 'There is no such conversation' } };
    api.fates.push({ type: 'refuse', status: 404, body });
    expect(await run(api, 'archive', CONVERSATION_ID)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'drawbridge: error NOT_FOUND: There is no such conversation\n',
    });
  });
});

describe('a deletion', () => {
  it.each(['y', ' Yes '])('happens after %j', async (answer) => {
    await expect(confirm(scriptTerminal({ answers: [answer] }), 'conv_1')).resolves.toBeUndefined();
  });

  it.each(['', 'n', 'yes please', undefined])('does not happen after %j', async (answer) => {
    const asked = confirm(scriptTerminal({ answers: [answer] }), 'conv_1');
    await expect(asked).rejects.toThrow(new LocalError('failed', 'Nothing was deleted.'));
  });
});

describe('on a terminal', () => {
  const HERE = /^\d{4}-\d\d-\d\d \d\d:\d\d$/;

  it('the columns stand below each other', () => {
    const [line, header] = [listLine(row({}), 100), headerLine(100, plain)];
    const [id, time, state, title] = line.trimEnd().split(/ {2,}/);
    expect([id, time, state, title]).toEqual([
      ...[CONVERSATION_ID, expect.stringMatching(HERE), 'running', 'Hi'],
    ]);
    expect(header.indexOf('STATE')).toBe(line.indexOf('running'));
    expect(header.indexOf('ANSWERED')).toBe(line.indexOf(time ?? ''));
    expect(header.indexOf('TITLE')).toBe(line.indexOf('Hi'));
  });

  it.each([20, 41, 60, 76, 77, 80, 200])('no line is wider than %i columns', (columns) => {
    const long = row({ title: `日本語 👩‍👩‍👧 ${'word '.repeat(30)}` });
    for (const line of [listLine(long, columns), headerLine(columns, plain)]) {
      expect(widthOf(line.trimEnd())).toBeLessThanOrEqual(columns);
    }
  });

  it('a wide one has the folder', () => {
    expect(listLine(row({}), 120)).toMatch(/running {8}project {11}Hi\n$/);
    expect(headerLine(120, plain)).toMatch(/STATE {10}FOLDER {12}TITLE\n$/);
  });

  it('a narrow one has no times', () => {
    expect(listLine(row({ title: 'A title' }), 60)).toBe(`${CONVERSATION_ID}  A title\n`);
  });

  it.each([
    { text: 'short', columns: 5, fits: 'short' },
    { text: 'longer', columns: 5, fits: 'long…' },
    { text: '日本語', columns: 6, fits: '日本語' },
    { text: '日本語', columns: 5, fits: '日本…' },
    { text: '日本語', columns: 4, fits: '日…' },
    { text: 'e\u0301e\u0301e\u0301', columns: 2, fits: 'e\u0301…' },
    { text: '👩‍👩‍👧x', columns: 2, fits: '…' },
    { text: 'x', columns: 0, fits: '' },
  ])('$text in $columns columns is $fits', ({ text, columns, fits }) => {
    expect(fitColumns(text, columns)).toBe(fits);
  });
});

/** By a rule of its own: every character of this test's that is not Latin is two wide. */
function widthOf(line: string): number {
  const characters = [...new Intl.Segmenter().segment(line)].map(({ segment }) => segment);
  return characters.reduce((sum, text) => sum + (/^[\u0020-\u007e…]/.test(text) ? 1 : 2), 0);
}

function row(changes: Partial<ListedRow>): ListedRow {
  const where = { id: CONVERSATION_ID, updated: UPDATED, folder: 'project' };
  return { ...where, state: 'running', title: 'Hi', ...changes };
}

function info(changes: Partial<ConversationInfo>): ConversationInfo {
  const dates = { created: UPDATED, updated: UPDATED };
  const waits = {
    bridgeId: null,
    running: false,
    subagents: false,
    waiting: { approvals: 0, questions: 0 },
  };
  return { id: CONVERSATION_ID, title: 'Hi', archived: false, ...dates, ...waits, ...changes };
}

function page(items: readonly ConversationInfo[], nextCursor: string | null = null) {
  return { items, nextCursor };
}

function list(query: string): string {
  return `GET conversations?${query}`;
}

function run(api: ScriptedApi, ...args: string[]) {
  const [command] = args;
  const target = ['--url', api.url, '--token', 'token'];
  const isOption = command === undefined || command.startsWith('-');
  const rest = isOption ? [...target, ...args] : [command, ...target, ...args.slice(1)];
  return callDrawbridge(['conversations', ...rest]);
}

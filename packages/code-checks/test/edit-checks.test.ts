/** Edits that a language server checks before they are written. The server is a scripted one. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { FileEditMetadata } from '../../../shared/wire/documents.ts';
import { Diagnostics, newErrors } from '../findings.ts';
import type { BeginProgram } from '../language-server.ts';
import { Messages } from '../messages.ts';
import { checkedWorkspace, KIND, scripted } from './scripted-server.ts';

const replace = (old_string: string, new_string: string) => ({
  file_path: 'a.ts',
  old_string,
  new_string,
});

it('an edit is checked before it is written, and only new errors send it back', async () => {
  const { call, text, put, started } = await checkedWorkspace('pull', {
    'a.ts': 'one\nBAD old\ntwo\n',
    'a.txt': 'x\n',
  });
  // What was wrong before stays, whatever its line.
  const good = await call('str_replace', replace('one', 'zero\none'));
  expect(FileEditMetadata.parse(good.metadata)).toMatchObject({ checked_by: 'scripted 1' });
  expect(good.metadata).not.toHaveProperty('linter_errors');
  expect(good.data).toMatch(/Checked by scripted 1: no new errors\.$/);
  // A new error: the file stays, and the document has the error.
  const bad = replace('two', 'BAD new');
  const errors = [{ line: 4, column: 1, message: 'BAD is here', source: 'ts 7' }];
  expect(await call('str_replace', bad)).toEqual({
    status: 'error',
    code: 'NEW_ERRORS',
    data: expect.stringContaining('send the same edit again'),
    metadata: { checked_by: 'scripted 1', linter_errors: errors },
  });
  expect(await text('a.ts')).toBe('zero\none\nBAD old\ntwo\n');
  // The same again is meant.
  const meant = await call('str_replace', bad);
  expect(meant).toMatchObject({
    status: 'success',
    data: expect.stringContaining('a.ts:4:1: BAD is here (ts 7)'),
    metadata: { operation: 'edit', checked_by: 'scripted 1', linter_errors: errors },
  });
  expect(await text('a.ts')).toBe('zero\none\nBAD old\nBAD new\n');
  // The server saw the old text again: a corrected error is none, and another person's change counts.
  await put('a.ts', 'three\n');
  expect(await call('read_lints', { paths: ['a.ts', 'a.txt'] })).toMatchObject({
    data: 'a.ts: no errors or warnings (scripted 1).\na.txt: not checked: no language server is for such files.',
  });
  // A file that another one lacks may come next.
  const next = await call('write', { file_path: 'b.ts', contents: 'BAD MODULE\n' });
  expect(next).toMatchObject({ status: 'success', metadata: { operation: 'create' } });
  expect(next.metadata?.['linter_errors']).toMatchObject([{ source: 'ts 2307' }]);
  // A file that no server is for has no word of it.
  const plain = await call('str_replace', { ...replace('x', 'BAD'), file_path: 'a.txt' });
  expect(plain.metadata).not.toHaveProperty('checked_by');
  expect(plain.metadata).not.toHaveProperty('not_checked');
  expect(started).toHaveLength(1);
});

it.each([
  ['without errors', { 'a.ts': 'one\n' }, 1],
  ['with an old error', { 'a.ts': 'one\nBAD\n' }, 2],
  ['of a file that others import', { 'a.ts': 'one\n', 'b.ts': "import './a';\n" }, 2],
  ['whose importer has an old error', { 'a.ts': 'one\n', 'b.ts': "import './a'; BAD\n" }, 3],
])('an edit %s asks about the texts before only where it has to', async (_, files, count) => {
  const asking = vi.spyOn(Messages.prototype, 'ask');
  onTestFinished(() => asking.mockRestore());
  const { call } = await checkedWorkspace('pull', files);
  const { metadata } = await call('str_replace', replace('one', 'two'));
  expect(metadata).toMatchObject({ checked_by: 'scripted 1' });
  expect(metadata).not.toHaveProperty('linter_errors');
  const asked = asking.mock.calls.filter(([method]) => method === 'textDocument/diagnostic');
  expect(asked).toHaveLength(count);
});

it.each([
  ['pull', {}, ['a.ts', 'b.ts'], true],
  ['reads', { answersUnopened: true }, ['a.ts'], true],
  // As if the importer had just gone.
  ['forgetful', { answersUnopened: true }, ['a.ts'], false],
])('a server (%s) gets the importers only where it must', async (mode, more, given, isChecked) => {
  const reporting = vi.spyOn(Messages.prototype, 'report');
  onTestFinished(() => reporting.mockRestore());
  const files = { 'a.ts': 'one\n', 'b.ts': "import './a'; BAD\n" };
  const asking = vi.spyOn(Messages.prototype, 'ask');
  onTestFinished(() => asking.mockRestore());
  const kinds = [{ ...KIND, ...more }];
  const readChoice = async () => ({ state: 'known', kinds }) as const;
  const { call } = await checkedWorkspace(mode, files, { readChoice });
  const { status, metadata } = await call('str_replace', replace('one', 'two'));
  expect([status, metadata?.['checked_by']]).toEqual(['success', 'scripted 1']);
  const opened = reporting.mock.calls.flatMap(([method, params]) =>
    method === 'textDocument/didOpen' ? [nameIn(params)] : [],
  );
  expect(opened).toEqual(given);
  const asked = asking.mock.calls.filter(([method]) => method === 'textDocument/diagnostic');
  // An importer with an error is asked about again, with the text before.
  expect(asked.map(([, params]) => nameIn(params))).toEqual(
    isChecked ? ['a.ts', 'b.ts', 'b.ts'] : ['a.ts', 'b.ts'],
  );
});

function nameIn(params: unknown): string | undefined {
  const { textDocument } = params as { textDocument: { uri: string } };
  return textDocument.uri.split('/').at(-1);
}

it('two edits of a file in a row are refused, and the next one is made', async () => {
  const { call } = await checkedWorkspace('pull', { 'a.ts': 'one\n' });
  const codes: string[] = [];
  for (const word of ['a', 'b', 'c', 'd']) {
    const result = await call('str_replace', replace('one', `BAD ${word}\none`));
    codes.push(result.status === 'error' ? result.code : result.status);
  }
  expect(codes).toEqual(['NEW_ERRORS', 'NEW_ERRORS', 'success', 'NEW_ERRORS']);
});

it('a person is asked only about an edit that passes, and what was shown passes again', async () => {
  const { tools, context, servers } = await checkedWorkspace('pull');
  const places = [await context.workspace.resolve('a.ts', 'write')] as const;
  const reviewed = { ...context, places, isReviewed: true };
  const edit = tools.get('write')?.read({ file_path: 'a.ts', contents: 'BAD\n' }, 'conv_test');
  await expect(edit?.propose(reviewed)).rejects.toMatchObject({ code: 'NEW_ERRORS' });
  const shown = await edit?.propose(reviewed);
  await servers.end();
  const again = await edit?.propose(reviewed);
  expect([again?.proposal, again?.change]).toEqual([shown?.proposal, shown?.change]);
  expect(again?.change?.result.metadata).toHaveProperty('linter_errors');
});

it('read_lints shows errors first, then warnings', async () => {
  const { call } = await checkedWorkspace('late', { 'a.ts': 'ODD\nfine\n  BAD\n' });
  expect((await call('read_lints', { path: 'a.ts' })).data).toBe(
    'a.ts, by scripted 1:\na.ts:3:3: BAD is here (ts 7)\na.ts:1:1: warning: ODD is here (ts 7)',
  );
});

it('a server is named without what is no version', async () => {
  const { call } = await checkedWorkspace('verbose', { 'a.ts': 'fine\n' });
  const { data } = await call('read_lints', { path: 'a.ts' });
  expect(data).toBe('a.ts: no errors or warnings (scripted).');
});

it('a server is tried again at once after an installation in the project', async () => {
  let mode = 'gone';
  const begin: BeginProgram = (command) => scripted(mode)(command);
  const { call, root } = await checkedWorkspace(mode, { 'a.ts': 'fine\n' }, { begin });
  const lints = async () => (await call('read_lints', { path: 'a.ts' })).data;
  expect(await lints()).toContain('it is not installed');
  mode = 'pull';
  expect(await lints()).toContain('it is not installed');
  await mkdir(join(root, 'node_modules/.bin'), { recursive: true });
  expect(await lints()).toContain('no errors or warnings');
});

it('a message of several lines is shown in one', () => {
  const start = { line: 0, character: 0 };
  const message = 'not assignable\n\u00a0\u00a0because \u202eof it\r\n';
  expect(Diagnostics.parse([{ range: { start }, message }])).toMatchObject([
    { message: 'not assignable because \\u{202e}of it' },
  ]);
});

it('an edit without a check is made, and its document says why', async () => {
  const whyNot = () => 'it runs only in the sandbox, and there is none';
  const { call, text } = await checkedWorkspace('pull', { 'a.ts': 'one\n' }, { whyNot });
  const result = await call('str_replace', replace('one', 'BAD'));
  const not_checked = 'typescript: it runs only in the sandbox, and there is none';
  expect(result).toMatchObject({ status: 'success', metadata: { not_checked } });
  expect(result.data).not.toContain('checked');
  expect(await text('a.ts')).toBe('BAD\n');
});

it('counts an error as new by its message and its line', () => {
  const at = (line: number, message = 'm') => ({
    line,
    column: 1,
    severity: 'error' as const,
    message,
    code: '',
  });
  const before = { text: 'a\nb\nc', findings: [at(1), at(2)] };
  const now = (text: string, ...findings: ReturnType<typeof at>[]) =>
    newErrors(before, { text, findings }).map(({ line }) => line);
  expect(now('x\na\nb\nc', at(2), at(3))).toEqual([]);
  expect(now('a\nb\nd', at(1), at(2), at(3))).toEqual([3]);
  expect(now('d\na\nb', at(1), at(2), at(3))).toEqual([1]);
  expect(now('A\nB', at(1), at(2))).toEqual([]);
  expect(now('a\nc', at(1), at(2, 'n'))).toEqual([2]);
  // A rule about a line that stays, in other words.
  const ruled = (line: number, message: string) => [{ ...at(line, message), code: 'rule' }];
  const old = { text: 'a', findings: ruled(1, "'x' is none") };
  expect(newErrors(old, { text: 'b\na', findings: ruled(2, "'y' is none") })).toEqual([]);
  expect(newErrors(old, { text: 'b', findings: ruled(1, "'y' is none") })).toHaveLength(1);
});

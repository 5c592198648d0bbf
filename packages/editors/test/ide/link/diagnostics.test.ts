import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { FINDING_LIMITS } from '../../../../../shared/limits.ts';
import { Diagnostics } from '../../../../../shared/wire/findings.ts';
import {
  type CompanionScript,
  textResult,
} from '../../../../../test/far-ends/scripted-companion.ts';
import { temporaryFolder } from '../../../../../test/local/temporary-folder.ts';
import { Workspace } from '../../../../workspace/workspace.ts';
import { editorDiagnostics } from '../../../ide/link/diagnostics.ts';
import { LINK_LIMITS } from '../../../ide/link/limits.ts';
import { readDiagnostics } from '../../../ide/link/wire.ts';
import { linkTo, logLines, start, until } from './linked.ts';

const live = new AbortController().signal;
/** Longer than a busy machine takes. */
const PATIENT = { diagnoseMs: 30_000 };
let root: string;
let workspace: Workspace;
let log: string[];

beforeEach(async () => {
  log = logLines();
  root = join(temporaryFolder(), 'project');
  mkdirSync(join(root, 'src'), { recursive: true });
  for (const name of ['src/a.ts', 'b.ts', 'c.ts', '.env', '../outside.ts'])
    writeFileSync(join(root, name), '');
  workspace = await Workspace.open(root);
});

/** A confirmed editor that shows these files of the workspace, the newest first. */
async function startEditor(
  open: readonly string[],
  script: CompanionScript,
  options: Parameters<typeof linkTo>[1] = PATIENT,
) {
  const openFiles = open.map((name, index) => ({ path: join(root, name), timestamp: -index }));
  const firstContext = { workspaceState: { openFiles } };
  const companion = await start({ firstContext, ...script });
  const linked = linkTo([companion.candidate], options);
  await until(() => linked.link.view);
  const diagnose = async (used: readonly string[] = [], readable = workspace) => {
    const paths = used.map((name) => join(root, name));
    const found = await editorDiagnostics(linked.link, { used: paths, readable, signal: live });
    return found && Diagnostics.parse(found);
  };
  const asked = () =>
    companion.calls.flatMap(({ tool, args }) => (tool === 'getDiagnostics' ? [args['uri']] : []));
  return { companion, linked, diagnose, asked };
}

const uriOf = (name: string) => pathToFileURL(join(root, name)).href;
const at = (line: number, character: number) => ({ range: { start: { line, character } } });
const ranged = (message: string, more: object = {}) => ({
  message,
  severity: 'Error',
  ...at(0, 0),
  ...more,
});
/** As an editor like VS Code answers. */
const ofFile = (uri: string, ...diagnostics: object[]) =>
  textResult(JSON.stringify([{ uri, diagnostics }]));

describe('what the editor finds wrong', () => {
  test('is reported of its open files and of those that the conversation used, errors first', async () => {
    const { diagnose, asked } = await startEditor(['src/a.ts'], {
      diagnose: (uri) =>
        ofFile(
          uri,
          ranged('unused', { severity: 'Warning', source: 'eslint', code: 'no-unused-vars' }),
          ranged('bad', { ...at(2, 4), source: 'ts', code: 2322 }),
          ranged('maybe', { severity: 'Hint' }),
          ranged('so', { severity: 'Information' }),
        ),
    });
    const warning = {
      line: 1,
      column: 1,
      severity: 'warning',
      message: 'unused',
      source: 'eslint no-unused-vars',
    };
    const error = { line: 3, column: 5, severity: 'error', message: 'bad', source: 'ts 2322' };
    expect(await diagnose(['b.ts', 'src/a.ts'])).toEqual({
      items: [
        { path: 'src/a.ts', ...error },
        { path: 'b.ts', ...error },
        { path: 'src/a.ts', ...warning },
        { path: 'b.ts', ...warning },
      ],
      leftOut: 0,
    });
    expect(asked()).toEqual([uriOf('src/a.ts'), uriOf('b.ts')]);
  });

  test('is read in the form of Neovim, too', async () => {
    const flat = (severity: number, message: string) =>
      JSON.stringify({
        filePath: join(root, 'b.ts'),
        line: 7,
        character: 2,
        severity,
        message,
        source: null,
      });
    const { diagnose } = await startEditor(['b.ts'], {
      diagnose: () => textResult(flat(1, 'bad'), flat(2, 'odd'), flat(3, 'so'), flat(4, 'maybe')),
    });
    const place = { path: 'b.ts', line: 7, column: 2 };
    expect((await diagnose())?.items).toEqual([
      { ...place, severity: 'error', message: 'bad' },
      { ...place, severity: 'warning', message: 'odd' },
    ]);
  });

  test('is nothing of a file that the editor refuses to report on, or has nothing on', async () => {
    const { diagnose } = await startEditor(['src/a.ts', 'b.ts', 'c.ts'], {
      diagnose: (uri) => {
        if (uri.endsWith('a.ts')) throw new Error('not open');
        return uri.endsWith('b.ts') ? { content: [] } : ofFile(uri, ranged('bad'));
      },
    });
    expect((await diagnose())?.items).toMatchObject([{ path: 'c.ts', message: 'bad' }]);
  });

  test('counts for the file that was asked about, by whatever path the editor knows it', async () => {
    symlinkSync(root, join(root, '../link'));
    const openFiles = [{ path: join(root, '../link/b.ts'), timestamp: 1 }];
    const { diagnose } = await startEditor([], {
      firstContext: { workspaceState: { openFiles } },
      diagnose: (uri) =>
        textResult(
          JSON.stringify([
            { uri: uriOf('c.ts'), diagnostics: [ranged('of another file')] },
            { uri: 'untitled:Untitled-1', diagnostics: [ranged('of no file')] },
            { uri, diagnostics: [ranged('bad')] },
          ]),
        ),
    });
    expect((await diagnose(['b.ts']))?.items).toMatchObject([{ path: 'b.ts', message: 'bad' }]);
  });
});

describe('the editor is not asked', () => {
  test('about files that are outside, may hold secrets, are closed or not there', async () => {
    const open = ['../outside.ts', '.env', 'gone.ts', 'src/a.ts', 'b.ts'];
    const { diagnose, asked } = await startEditor(open, { diagnose: (uri) => ofFile(uri) });
    const readable = workspace.showing((name) => !name.startsWith('src/'));
    expect(await diagnose([], readable)).toEqual({ items: [], leftOut: 0 });
    expect(asked()).toEqual([uriOf('b.ts')]);
  });

  test('while its owner has not confirmed it', async () => {
    const options = { ...PATIENT, isConfirmed: false };
    const { diagnose, asked } = await startEditor(
      ['b.ts'],
      { diagnose: (uri) => ofFile(uri) },
      options,
    );
    expect(await diagnose()).toBeUndefined();
    expect(asked()).toEqual([]);
  });

  test('where it does not know the question', async () => {
    const { diagnose, companion } = await startEditor(['b.ts'], {});
    expect(await diagnose()).toBeUndefined();
    expect(companion.steps).not.toContain('getDiagnostics');
  });

  test('about more files than a look has time for', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `${index}.ts`);
    for (const name of names) writeFileSync(join(root, name), '');
    const { diagnose, asked } = await startEditor(names, { diagnose: (uri) => ofFile(uri) });
    await diagnose();
    expect(asked()).toEqual(names.slice(0, LINK_LIMITS.maxDiagnosedFiles).map(uriOf));
  });
});

describe('an answer', () => {
  test('of many errors is cut, with how many are left out', async () => {
    const message = 'x'.repeat(FINDING_LIMITS.maxDiagnosticChars + 1);
    const many = Array.from({ length: 100 }, () => ranged(message, { source: 'y'.repeat(999) }));
    const { diagnose } = await startEditor(['b.ts'], { diagnose: (uri) => ofFile(uri, ...many) });
    const found = await diagnose();
    expect(found?.items).toHaveLength(FINDING_LIMITS.maxDiagnostics);
    expect(found?.leftOut).toBe(100 - FINDING_LIMITS.maxDiagnostics);
    expect(found?.items[0]?.message).toMatch(/^x+…$/);
  });

  test('is read in so far as it has the right form', async () => {
    const { diagnose } = await startEditor(['b.ts'], {
      diagnose: (uri) => ofFile(uri, ranged('bad'), { message: 'nowhere' }, ranged('odd')),
    });
    expect((await diagnose())?.items).toMatchObject([{ message: 'bad' }, { message: 'odd' }]);
    expect(log.filter((line) => line.includes('getDiagnostics'))).toHaveLength(1);
  });

  test('of millions of items in many texts is read no further than it can be shown', () => {
    const items = Array.from({ length: LINK_LIMITS.maxDiagnosisChars / 4 }, () => ({}));
    const { content } = textResult(...Array<string>(200).fill(JSON.stringify(items)));
    expect(readDiagnostics({ content })).toMatchObject({ found: [] });
  });

  test.each([
    ['no JSON', 'No problems.'],
    ['of another form', '[{"file": "a"}]'],
    ['too deep', '['.repeat(10_000)],
    ['too long', JSON.stringify('x'.repeat(LINK_LIMITS.maxDiagnosisChars))],
  ])('that is %s is left out, and logged once', async (_, text) => {
    const { diagnose, linked } = await startEditor(['b.ts'], { diagnose: () => textResult(text) });
    for (let look = 0; look < 2; look++)
      expect(await diagnose()).toEqual({ items: [], leftOut: 0 });
    expect(log.filter((line) => line.includes('getDiagnostics'))).toHaveLength(1);
    expect(linked.link.view).toBeDefined();
  });

  test('that does not come leaves the look without, and a while later the question is put again', async () => {
    const script = { diagnose: (uri: string) => ofFile(uri, ranged('bad')) };
    const limits = { diagnoseMs: 500, maxLateLooks: 2, diagnosePauseMs: 3_000 };
    const { diagnose, companion, linked } = await startEditor(['b.ts', 'c.ts'], script, limits);
    companion.hanging.add('getDiagnostics');
    for (let look = 0; look < limits.maxLateLooks; look++) expect(await diagnose()).toBeUndefined();
    companion.hanging.clear();
    expect(await diagnose()).toBeUndefined();
    const asked = companion.steps.filter((step) => step === 'getDiagnostics');
    expect(asked.length).toBeLessThanOrEqual(2 * limits.maxLateLooks);
    await vi.waitUntil(diagnose, { timeout: 30_000, interval: 100 });
    // The connection has stayed.
    expect(companion.sessions()).toBe(1);
    expect(linked.link.view).toBeDefined();
  });
});

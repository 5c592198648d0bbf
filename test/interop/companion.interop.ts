import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { newDeferred } from '../../machine/deferred.ts';
import type { Family } from '../../packages/editors/ide/discovery/candidate.ts';
import { newPlace, startCompanion } from '../../packages/editors/test/companion/companions.ts';
import { type ForeignPackages, installPackages, NO_REGISTRY } from './foreign-packages.ts';
import { row } from './table.ts';

const GEMINI = '@google/gemini-cli-core';
const QWEN = '@qwen-code/qwen-code';

interface Cli {
  readonly family: Family;
  readonly package: string;
  readonly version: string;
  /** The module of its IDE client, and the one of its context if it is another. */
  readonly modules: (folder: string) => string[];
  readonly program: string;
}

const CLIS: readonly Cli[] = [
  {
    family: 'gemini',
    package: GEMINI,
    version: '0.61.0',
    program: 'Gemini CLI',
    modules: (folder) =>
      ['ide-client.js', 'ideContext.js'].map((name) => join(folder, 'dist', 'src', 'ide', name)),
  },
  {
    family: 'qwen',
    package: QWEN,
    version: '0.24.4',
    program: 'Qwen Code',
    // A bundle in parts: their names change with each version.
    modules: (folder) => {
      const parts = readdirSync(join(folder, 'chunks')).map((name) => join(folder, 'chunks', name));
      return parts.filter((part) => /^var IdeClient = class/m.test(readFileSync(part, 'utf8')));
    },
  },
];

type Started = Awaited<ReturnType<typeof startCompanion>>;

/** Starts a CLI in a folder below the companion's root, with no variable that would lead it there. */
async function startCli(
  modules: readonly string[],
  { discovery, root }: Pick<Started, 'discovery' | 'root'>,
  variables: Readonly<Record<string, string>> = {},
) {
  const cwd = join(root, 'below');
  mkdirSync(cwd, { recursive: true });
  const child = fork(join(import.meta.dirname, 'ide-cli.ts'), [...modules], {
    cwd,
    env: {
      PATH: process.env['PATH'],
      HOME: join(discovery.qwenFolder, '..'),
      TMPDIR: discovery.temporaryFolder,
      // In a container, Gemini CLI looks for its editor outside of it, unless this is set.
      REMOTE_CONTAINERS: 'true',
      ...variables,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child);
  let last = 0;
  const run = async (name: string, ...args: string[]): Promise<unknown> => {
    const id = ++last;
    const answer = once(child, id);
    child.send([id, name, args]);
    const [, result, error] = await answer;
    if (error !== undefined) throw new Error(error);
    return result;
  };
  await run('connect');
  return { run, child };
}

/** The answer to an order, or without its number the first message. */
function once(child: ChildProcess, id?: number): Promise<[number, unknown, string?]> {
  const { promise, resolve, reject } = newDeferred<[number, unknown, string?]>();
  const onMessage = (message: unknown) => {
    const answer = message as [number, unknown, string?];
    if (id !== undefined && answer[0] !== id) return;
    child.off('message', onMessage);
    resolve(answer);
  };
  child.on('message', onMessage);
  child.setMaxListeners(0).once('exit', (code) => reject(new Error(`The CLI ended: ${code}.`)));
  promise.catch(() => {});
  return promise;
}

describe.each(CLIS)('the IDE client of $package $version', (cli) => {
  let packages: ForeignPackages;
  let modules: string[];

  beforeAll(async () => {
    packages = await installPackages([`${cli.package}@${cli.version}`]);
    const folder = join(packages.folder, 'node_modules', ...cli.package.split('/'));
    modules = cli.modules(folder).map((path) => pathToFileURL(path).href);
    expect(modules).not.toEqual([]);
  });
  afterAll(() => packages[Symbol.asyncDispose]());

  function shows(what: string, test: () => Promise<void>) {
    const suite = `IDE client of ${cli.package}`;
    it(what, row({ suite, version: cli.version, notRun: NO_REGISTRY }), test);
  }

  async function begin() {
    const started = await startCompanion();
    return { ...started, ...(await startCli(modules, started)) };
  }

  shows('connects by its file, and can show diffs', async () => {
    const { run, guests } = await begin();
    expect(await run('status')).toMatchObject({ status: 'connected' });
    expect(await run('canDiff')).toBe(true);
    expect(guests).toEqual([expect.stringMatching(`^${cli.program}.* came$`)]);
  });

  const isByVariables = cli.family === 'gemini';
  shows(isByVariables ? 'connects by the variables alone' : 'needs its file', async () => {
    const started = await startCompanion();
    const variables = { ...started.companion.environment, TERM_PROGRAM: 'vscode' };
    const { run } = await startCli(modules, { ...started, discovery: newPlace() }, variables);
    const status = isByVariables ? 'connected' : 'disconnected';
    expect(await run('status')).toMatchObject({ status });
  });

  shows('has the context at once, and its changes', async () => {
    const started = await startCompanion();
    const file = { path: join(started.root, 'a.ts'), timestamp: 1 };
    started.companion.contextChanged({ openFiles: [file], isTrusted: true });
    const { run } = await startCli(modules, started);
    const sends = (openFiles: object[], isTrusted: boolean) =>
      vi.waitFor(
        async () =>
          expect(await run('context')).toEqual({ workspaceState: { openFiles, isTrusted } }),
        { timeout: 10_000 },
      );
    // The clients say themselves that a file is not active.
    await sends([{ ...file, isActive: false }], true);
    const cursor = { line: 3, character: 7 };
    const active = { ...file, isActive: true, cursor, selectedText: 'x'.repeat(20_000) };
    started.companion.contextChanged({ openFiles: [active], isTrusted: false });
    await sends([{ ...active, selectedText: 'x'.repeat(16_384) }], false);
    expect(await run('status')).toMatchObject({ status: 'connected' });
  });

  shows('a diff is accepted with changes', async () => {
    const { run, shown, root } = await begin();
    const path = join(root, './a.ts');
    const answer = run('openDiff', path, 'proposed');
    await vi.waitFor(() => expect(shown).toHaveLength(1), 10_000);
    expect(shown[0]).toMatchObject({ filePath: path, newContent: 'proposed' });
    shown[0]?.answer({ decision: 'accepted', content: 'changed' });
    expect(await answer).toEqual({ status: 'accepted', content: 'changed' });
  });

  shows('a diff is accepted as an empty file', async () => {
    const { run, shown, root } = await begin();
    const answer = run('openDiff', join(root, 'a.ts'), 'proposed');
    await vi.waitFor(() => expect(shown).toHaveLength(1), 10_000);
    shown[0]?.answer({ decision: 'accepted', content: '' });
    expect(await answer).toEqual({ status: 'accepted', content: '' });
  });

  shows('a diff is rejected', async () => {
    const { run, shown, root } = await begin();
    const answer = run('openDiff', join(root, 'a.ts'), 'proposed');
    await vi.waitFor(() => expect(shown).toHaveLength(1), 10_000);
    shown[0]?.answer({ decision: 'rejected' });
    expect(await answer).toMatchObject({ status: 'rejected' });
  });

  shows('a diff is closed in the CLI, with the changes of its view', async () => {
    const { run, shown, root } = await begin();
    const path = join(root, 'a.ts');
    const answer = run('openDiff', path, 'proposed');
    await vi.waitFor(() => expect(shown).toHaveLength(1), 10_000);
    const [view] = shown;
    view?.signal.addEventListener('abort', () =>
      view.answer({ decision: 'accepted', content: 'changed' }),
    );
    await run('accept', path);
    expect(await answer).toEqual({ status: 'accepted', content: 'changed' });
  });

  shows('two of them show the same path at once', async () => {
    const started = await startCompanion();
    const clis = [await startCli(modules, started), await startCli(modules, started)];
    const path = join(started.root, 'a.ts');
    const answers = clis.map(({ run }, number) => run('openDiff', path, `proposed ${number}`));
    await vi.waitFor(() => expect(started.shown).toHaveLength(2), 10_000);
    for (const { newContent, answer } of started.shown)
      answer({ decision: 'accepted', content: newContent });
    expect(await Promise.all(answers)).toMatchObject([
      { content: 'proposed 0' },
      { content: 'proposed 1' },
    ]);
  });

  shows('folders with colons and percent signs', async () => {
    const started = await startCompanion();
    const roots = ['a:b', '100%', '100%25', '%41:%41'].map((name) => join(started.root, name));
    started.companion.setRoots(roots);
    for (const root of roots) {
      const { run } = await startCli(modules, { ...started, root });
      expect(await run('status')).toMatchObject({ status: 'connected' });
    }
  });

  shows('a killed CLI takes its diff with it', async () => {
    const started = await startCompanion({ streamlessMs: 100 });
    const { run, child } = await startCli(modules, started);
    run('openDiff', join(started.root, 'a.ts'), 'proposed').catch(() => {});
    await vi.waitFor(() => expect(started.shown).toHaveLength(1), 10_000);
    child.kill('SIGKILL');
    await vi.waitFor(() => expect(started.shown[0]?.signal.aborted).toBe(true), 10_000);
  });

  shows('knows that the companion stopped', async () => {
    const { run, companion } = await begin();
    await companion.close();
    const ended = async () => expect(await run('status')).toMatchObject({ status: 'disconnected' });
    await vi.waitFor(ended, 30_000);
  });
});

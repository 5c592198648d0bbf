import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { logTo } from '../../../machine/log.ts';
import { carryOut } from '../../../test/bridge/tools/temporary-workspace.ts';
import {
  type EmbeddingsServer,
  embeddingsServer,
  refusing,
  silent,
  vectorsFor,
} from '../../../test/far-ends/embeddings-server.ts';
import { keepFoldersInMemory } from '../../../test/in-memory.ts';
import type { CodeEmbedding } from '../code-index.ts';
import { findCode } from '../found-code.ts';
import { INDEX_LIMITS } from '../limits.ts';
import { codebaseSearching } from '../tool.ts';
import { ASKED, type Indexed, indexed } from './indexed.ts';

const FILES = {
  'src/zebra.ts': 'export function zebra() {\n  return 1;\n}\n',
  'src/kettle.ts': 'export function kettle() {\n  return 2;\n}\n',
  'src/other.ts': 'export function other() {\n  return 3;\n}\n',
};

/** It has no word of the file that answers it. */
const QUESTION = 'striped animal';

keepFoldersInMemory();

/** An index waits for an editor that saves often, and for a server that fails: here neither is to come. */
beforeEach(() => {
  for (const name of ['embedDelayMs', 'retryMs'] as const) {
    vi.spyOn(INDEX_LIMITS as Record<typeof name, number>, name, 'get').mockReturnValue(20);
  }
});

function by(far: EmbeddingsServer): CodeEmbedding {
  return { service: far, readSendable: async () => () => true };
}

async function embedded(
  far: EmbeddingsServer,
  before?: Partial<Indexed>,
  files: Readonly<Record<string, string>> = FILES,
) {
  const made = await indexed(files, undefined, before, by(far));
  await settled(made);
  return made;
}

async function settled({ index }: Indexed): Promise<void> {
  await expect.poll(() => vectorsOf(index)).toMatchObject({ state: 'ready' });
}

function vectorsOf({ report }: Indexed['index']) {
  return report.state === 'ready' ? report.vectors : undefined;
}

describe('vectors of a workspace', () => {
  it('find what shares no word with the question, and the answer says so', async () => {
    const words = await indexed(FILES);
    expect(await words.find(QUESTION)).toEqual([]);
    const far = await embeddingsServer();
    const { index, find, isByMeaning, context, reports } = await embedded(far);
    expect((await find(QUESTION))[0]).toBe('src/zebra.ts');
    expect(isByMeaning()).toBe(true);
    expect(await find(QUESTION, ['src/kettle.ts'])).toEqual(['src/kettle.ts']);
    const { data } = await carryOut(codebaseSearching(index), { query: QUESTION }, context);
    expect(data).toMatch(/^src\/zebra\.ts:1-3\n/);
    expect(data).toContain('found by the words and the meaning of the question');
    const server = new URL(far.baseUrl).origin;
    expect(reports.at(-1)).toEqual({
      state: 'ready',
      files: 3,
      leftOut: 0,
      vectors: { state: 'ready', server, leftOut: 0, heldBack: 0 },
    });
  });

  it('are asked for once: not after a start, a move of lines or of a file', async () => {
    const far = await embeddingsServer();
    const first = await embedded(far);
    expect(far.texts().sort()).toEqual(
      Object.values(FILES)
        .map((text) => text.trimEnd())
        .sort(),
    );
    await first.index.end();
    const sent = far.sent.length;
    const again = await embedded(far, first);
    renameSync(again.path('src/zebra.ts'), again.path('src/moved.ts'));
    // On a busy machine the question's vector comes too late for the first answer.
    await expect.poll(async () => (await again.find(QUESTION))[0]).toBe('src/moved.ts');
    await again.put('src/new.ts', 'export const violin = 1;\n');
    await again.find('violin');
    await expect.poll(() => far.texts()).toContain('export const violin = 1;');
    const later = far.sent.slice(sent).flatMap(({ input }) => input);
    const questions = [QUESTION, 'violin'];
    expect(later.filter((text) => !questions.includes(text))).toEqual(['export const violin = 1;']);
  });

  it('are never asked for with text of closed files', async () => {
    const far = await embeddingsServer();
    const files = {
      ...FILES,
      '.env': 'UNICORN=1\n',
      '.cursorignore': 'closed/\n',
      'closed/a.ts': 'unicorn\n',
      '.cursorindexingignore': 'unindexed.ts\n',
      'unindexed.ts': 'unicorn\n',
      '.gitignore': 'built.js\n',
      'built.js': 'unicorn\n',
      'binary.ts': 'unicorn\0unicorn',
      'ruled/b.ts': 'unicorn\n',
      '../outside.ts': 'unicorn\n',
    };
    const readSendable = async () => (path: string) => !path.startsWith('ruled/');
    const made = await indexed(files, undefined, undefined, { service: far, readSendable });
    await settled(made);
    expect(far.texts().length).toBeGreaterThan(2);
    expect(JSON.stringify(far.sent)).not.toMatch(/unicorn/i);
  });

  it('are made of closed files once these are open, and the report has their number', async () => {
    const far = await embeddingsServer();
    let isOpen = (path: string): boolean => path === 'src/other.ts';
    const readSendable = async () => isOpen;
    const { index, find } = await indexed(FILES, undefined, undefined, {
      service: far,
      readSendable,
    });
    await expect.poll(() => vectorsOf(index)).toMatchObject({ state: 'ready', heldBack: 2 });
    isOpen = () => true;
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + INDEX_LIMITS.heldBackMs);
    await find('kettle');
    vi.restoreAllMocks();
    await expect.poll(() => vectorsOf(index)).toMatchObject({ state: 'ready', heldBack: 0 });
    expect((await find(QUESTION))[0]).toBe('src/zebra.ts');
  });

  it('are none in the report where every file is closed', async () => {
    const far = await embeddingsServer();
    const readSendable = async () => () => false;
    const embedding = { service: far, readSendable };
    const { index, find } = await indexed(FILES, undefined, undefined, embedding);
    await expect
      .poll(() => vectorsOf(index))
      .toMatchObject({ state: 'failing', reason: 'it may not have any of the files' });
    await find(QUESTION);
    expect(far.sent).toEqual([]);
  });

  it('do not rank while they are made anew after the database was lost', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [`f${at}.ts`, `export const name${at} = ${at};\n`]),
    );
    const far = await embeddingsServer();
    const made = await embedded(far, undefined, files);
    const before = far.sent.length;
    far.answer = (body, response) => far.sent.length > before + 1 && silent(body, response);
    for (const end of ['', '-wal']) truncateSync(`${made.database}${end}`, 0);
    await made.put('new.ts', 'export const violin = 1;\n');
    await made.find('violin');
    await expect.poll(() => far.sent.length).toBe(before + 2);
    await made.find('name1');
    expect(made.isByMeaning()).toBe(false);
  });

  it('go on after an end and after a kill in the middle', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [`f${at}.ts`, `export const name${at} = ${at};\n`]),
    );
    const far = await embeddingsServer();
    const stopAfter = (count: number) => {
      far.answer = (body, response) => far.sent.length > count && silent(body, response);
    };
    stopAfter(1);
    const first = await indexed(files, undefined, undefined, by(far));
    await expect.poll(() => far.sent.length).toBe(2);
    expect(await first.find(QUESTION)).toEqual([]);
    await first.index.end();

    stopAfter(3);
    const program = join(import.meta.dirname, 'embedding-process.ts');
    const words = [program, first.root, first.database, far.baseUrl];
    const killed = spawn(process.execPath, words, { stdio: 'ignore' });
    await expect.poll(() => far.sent.length).toBe(4);
    killed.kill('SIGKILL');
    await once(killed, 'exit');

    const kept = [0, 2].flatMap((at) => far.sent[at]?.input ?? []);
    far.answer = undefined;
    far.sent.length = 0;
    await embedded(far, first);
    expect(new Set(kept).size).toBe(2 * INDEX_LIMITS.maxInputs);
    expect(far.texts()).toHaveLength(100 - kept.length);
    expect(far.texts().filter((text) => kept.includes(text))).toEqual([]);
  });

  it('are asked for again after a server that was busy', async () => {
    const far = await embeddingsServer();
    far.answer = (body, response) =>
      far.sent.length < 3 && refusing(429, { 'retry-after': '0' })(body, response);
    await embedded(far);
    expect(far.sent).toHaveLength(3);
  });

  it('of a slow server hold up no search', async () => {
    const far = await embeddingsServer();
    const { index, context } = await embedded(far);
    far.answer = silent;
    const { workspace } = context;
    const question = { workspace, question: 'kettle', places: ['.'], limit: 40 };
    const found = await index.find({ ...question, ...ASKED, waitMs: 50 });
    expect(found?.byMeaning).toBe(false);
    expect(found?.chunks.map(({ path }) => path)).toEqual(['src/kettle.ts']);
    const search = { query: 'put the kettle into the other room', mode: 'agent' } as const;
    const look = { search, workspace, signal: context.signal };
    const find = async () => (await findCode({ index, modes: ['agent'] }, look))?.join();
    // A busy machine may take the whole time of one try.
    await expect.poll(find).toContain('src/kettle.ts');
  });

  it('of a private question come from a private server only', async () => {
    const open = await embeddingsServer();
    const { index, context } = await embedded(open);
    const { workspace } = context;
    const asked = { workspace, question: QUESTION, places: ['.'], limit: 40, waitMs: 2_000 };
    expect(await index.find({ ...asked, isPrivate: true })).toMatchObject({ byMeaning: false });
    expect(open.texts()).not.toContain(QUESTION);
    const search = { query: `${QUESTION} kettle`, mode: 'agent', isPrivate: true } as const;
    await findCode({ index, modes: ['agent'] }, { search, workspace, signal: context.signal });
    const tool = codebaseSearching(index);
    await carryOut(tool, { query: QUESTION }, { ...context, isPrivate: true });
    expect(JSON.stringify(open.sent)).not.toContain('striped');
    const closed = await embeddingsServer({ isPrivate: true });
    const other = await embedded(closed);
    const own = { ...asked, workspace: other.context.workspace, isPrivate: true };
    expect(await other.index.find(own)).toMatchObject({ byMeaning: true });
  });

  it('are made anew for another model, and no older ones stay', async () => {
    const far = await embeddingsServer();
    const first = await embedded(far);
    await first.index.end();
    const other = await embeddingsServer({ model: 'concepts-2', baseUrl: far.baseUrl });
    const again = await embedded({ ...other, baseUrl: far.baseUrl }, first);
    expect(far.sent.map(({ model }) => model)).toEqual(['concepts', 'concepts-2']);
    await again.index.end();
    await embedded(far, first);
    expect(far.sent.map(({ model }) => model)).toEqual(['concepts', 'concepts-2', 'concepts']);
  });

  it('are made anew where the server changes their length, and are never mixed', async () => {
    const far = await embeddingsServer();
    const { find, isByMeaning, put, index } = await embedded(far);
    far.dimensions = 6;
    expect(await find(QUESTION)).toEqual([]);
    expect(isByMeaning()).toBe(false);
    await expect.poll(() => far.texts().filter((text) => text.includes('zebra()')).length).toBe(2);
    await expect.poll(() => vectorsOf(index)).toMatchObject({ state: 'ready' });
    expect((await find(QUESTION))[0]).toBe('src/zebra.ts');
    far.dimensions = 7;
    await put('src/new.ts', 'export const violin = 1;\n');
    await find('violin');
    await expect.poll(() => far.texts().filter((text) => text.includes('zebra()')).length).toBe(3);
  });

  it('begin anew once for several answers of another length', async () => {
    const far = await embeddingsServer();
    const { find, index } = await embedded(far);
    far.dimensions = 6;
    await Promise.all(['zebra', 'kettle', 'violin', 'teapot'].map((question) => find(question)));
    expect(vectorsOf(index)).not.toMatchObject({ state: 'failing' });
    await expect.poll(() => far.texts().filter((text) => text.includes('zebra()')).length).toBe(2);
    await settled({ index } as Indexed);
  });

  it('only order, for a message, what its words find', async () => {
    const far = await embeddingsServer();
    const { index, context } = await embedded(far);
    const { workspace, signal } = context;
    const search = { query: 'striped animal', mode: 'agent' } as const;
    expect(
      await findCode({ index, modes: ['agent'] }, { search, workspace, signal }),
    ).toBeUndefined();
    expect(far.texts()).toContain('striped animal');
  });

  it('are missing for a text that the server refuses', async () => {
    const far = await embeddingsServer();
    far.answer = (body, response) =>
      JSON.stringify(body).includes('kettle()') && refusing(400)(body, response);
    const { find } = await embedded(far);
    expect((await find(QUESTION))[0]).toBe('src/zebra.ts');
    expect(await find('kettle')).toContain('src/kettle.ts');
  });

  it('wait for a refused key: the report says why, and neither log nor report has the key', async () => {
    const lines: unknown[] = [];
    const far = await embeddingsServer({ readKey: async () => 'sk-secret' });
    far.answer = refusing(401);
    const made = await logTo(
      (entry, line) => lines.push(entry, line),
      () => indexed(FILES, undefined, undefined, by(far)),
    );
    const { index, find, reports } = made;
    await expect
      .poll(() => vectorsOf(index))
      .toEqual({
        state: 'failing',
        server: new URL(far.baseUrl).origin,
        reason: 'the server refuses the key; it is tried again',
      });
    expect(await find('kettle')).toEqual(['src/kettle.ts']);
    expect(far.sent).toHaveLength(1);
    expect(lines).toContainEqual(
      expect.objectContaining({ event: 'vectors_failed', code: 'KEY_REFUSED' }),
    );
    expect(JSON.stringify([lines, reports])).not.toMatch(/sk-secret|zebra/);
  });

  it('of a server that is gone leave the words, and come back with it', async () => {
    const far = await embeddingsServer();
    const { find, put, index, isByMeaning } = await embedded(far);
    far.answer = refusing(500);
    await put('src/new.ts', 'export const violin = 1;\n');
    expect(await find('violin')).toEqual(['src/new.ts']);
    expect(isByMeaning()).toBe(false);
    await expect
      .poll(() => vectorsOf(index))
      .toMatchObject({
        state: 'failing',
        reason: 'the server answers with an error; it is tried again',
      });
    far.answer = undefined;
    await expect.poll(() => vectorsOf(index)).toMatchObject({ state: 'ready' });
  });

  it('are no vectors of wrong answers', async () => {
    const far = await embeddingsServer();
    far.answer = (body, response) => {
      if (far.sent.length > 1) return false;
      const { data } = vectorsFor(body);
      response.end(JSON.stringify({ data: data.slice(1) }));
      return true;
    };
    const { find } = await embedded(far);
    expect((await find(QUESTION))[0]).toBe('src/zebra.ts');
    expect(far.sent[1]).toEqual(far.sent[0]);
  });

  it('leave with their chunks a file that goes', async () => {
    const far = await embeddingsServer();
    const { find, path } = await embedded(far);
    rmSync(path('src/zebra.ts'));
    expect(await find(QUESTION)).not.toContain('src/zebra.ts');
  });
});

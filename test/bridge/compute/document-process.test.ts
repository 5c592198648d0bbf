import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { CONTENT_TASKS } from '../../../bridge/compute/tasks.ts';
import { computeFor } from '../../../machine/compute/owner.ts';
import { MIB } from '../../../shared/units.ts';
import { fewOf } from '../../depth.ts';
import { pdfOf } from './pdf.ts';
import { bomb, endReaders, flat, NEVER, readersOf, started, textOf, view } from './reader.ts';

// Files before this one ran in the same process. Their readers rest for a while.
beforeAll(endReaders);

describe('the process that reads documents', () => {
  test('reads them, and begins with the first one', async () => {
    const documents = started();
    expect(readersOf()).toEqual([]);
    expect(await documents.run(CONTENT_TASKS.showFile, view(pdfOf(['text'])), NEVER)).toMatchObject(
      {
        text: '[page 1 of 1]\ntext',
      },
    );
    const notebook = Buffer.from('{"nbformat":4,"cells":[]}');
    expect(
      await documents.run(CONTENT_TASKS.showFile, view(notebook, 'a.ipynb'), NEVER),
    ).toMatchObject({
      text: expect.stringContaining('[notebook: 0 cells, nbformat 4.0]'),
    });
    const gif = Buffer.from('GIF89a\x01\x00\x02\x00', 'latin1');
    expect(await documents.run(CONTENT_TASKS.readImage, gif, NEVER)).toMatchObject({
      mimeType: 'image/gif',
      size: { width: 1, height: 2 },
    });
    await expect(
      documents.run(CONTENT_TASKS.showFile, view(Buffer.from('%PDF-')), NEVER),
    ).rejects.toMatchObject({ code: 'PDF_BROKEN' });
    expect(readersOf()).toHaveLength(1);
  });

  test('has no variable, no descriptor of ours and no network', async () => {
    const documents = started();
    await documents.run(CONTENT_TASKS.showFile, view(pdfOf(['text'])), NEVER);
    const [pid = 0] = readersOf();
    const variables = textOf(pid, 'environ').split('\0').slice(0, -1);
    expect(variables.filter((variable) => !variable.startsWith('NODE_CHANNEL_'))).toEqual([]);
    const lines = textOf(pid, 'net/dev').trim().split('\n').slice(2);
    expect(lines.map((line) => line.trim().split(':')[0])).toEqual(['lo']);
    expect(textOf(pid, 'cmdline')).toMatch(/\0--permission\0/);
    expect(textOf(pid, 'limits')).toMatch(/^Max file size +0 +0 /m);
  });

  test('is another one for each workspace: a document that takes long holds up none of another', async () => {
    const documents = started();
    const stream = deflateSync(Buffer.from(`BT (${'a '.repeat(MIB)}) Tj ET`));
    const long = pdfOf(Array.from({ length: 50 }, () => ({ filter: flat, stream })));
    const leaving = new AbortController();
    let isRead = false;
    const reading = computeFor('/one', () =>
      documents.run(CONTENT_TASKS.showFile, view(long), leaving.signal),
    )
      .catch(() => {})
      .finally(() => {
        isRead = true;
      });
    await vi.waitFor(() => expect(readersOf()).toHaveLength(1));
    const other = () => documents.run(CONTENT_TASKS.showFile, view(pdfOf(['text'])), NEVER);
    expect(await computeFor('/other', other)).toMatchObject({ text: '[page 1 of 1]\ntext' });
    expect(isRead).toBe(false);
    leaving.abort();
    await reading;
    expect(await computeFor('/one', other)).toBeDefined();
  });

  test('ends with a cancelled read, and where it was killed', async () => {
    const documents = started();
    const cancelled = new AbortController();
    const reading = documents.run(CONTENT_TASKS.showFile, view(bomb()), cancelled.signal);
    await vi.waitFor(() => expect(readersOf()).toHaveLength(1), { timeout: 15_000 });
    cancelled.abort(new Error('cancelled'));
    await expect(reading).rejects.toThrow('cancelled');
    await vi.waitFor(() => expect(readersOf()).toEqual([]));
    const next = documents.run(CONTENT_TASKS.showFile, view(bomb()), NEVER);
    const killing = setInterval(() => readersOf().map((pid) => process.kill(pid, 'SIGKILL')), 20);
    await expect(next).rejects.toMatchObject({ name: 'ToolFailure' });
    clearInterval(killing);
  });

  test.each(['a busy', 'an idle'].slice(0, fewOf(2, 1)))(
    'leaves %s one behind when the bridge is killed: none',
    async (what) => {
      const source = (path: string) => JSON.stringify(join(import.meta.dirname, path));
      const script = `
      const { DocumentProcess } = await import(${source('../../../machine/compute/document-process.ts')});
      const { CONTENT_TASKS } = await import(${source('../../../bridge/compute/tasks.ts')});
      const { pdfOf } = await import(${source('pdf.ts')});
      const documents = new DocumentProcess({ maxMs: 60_000, idleMs: 60_000 });
      const read = (bytes) => documents.run(CONTENT_TASKS.showFile, { name: 'a.pdf', bytes, offset: 1, limit: undefined }, new AbortController().signal);
      await read(pdfOf(['text']));
      // Takes long, and little memory.
      if (${what === 'a busy'}) void read(pdfOf(Array(50).fill('word '.repeat(20_000))));
      setTimeout(() => console.log('reading'), 50);
      setInterval(() => {}, 1_000);`;
      const bridge: ChildProcess = spawn(
        process.execPath,
        ['--input-type=module', '--eval', script],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      );
      onTestFinished(() => void bridge.kill('SIGKILL'));
      if (bridge.stdout) await once(bridge.stdout, 'data');
      const [reader = 0] = readersOf(bridge.pid);
      expect(reader).toBeGreaterThan(0);
      bridge.kill('SIGKILL');
      await vi.waitFor(() => expect(textOf(reader, 'cmdline')).toBe(''), { timeout: 10_000 });
    },
  );
});

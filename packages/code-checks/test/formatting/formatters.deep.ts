/** A real formatter and hostile ones, in the sandbox. */
import { existsSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { expect, it, vi } from 'vitest';
import { MINUTE, SECOND } from '../../../../shared/units.ts';
import { freshWorkspace, NO_BUBBLEWRAP } from '../../../sandbox/test/sandboxed-workspace.ts';
import { isAnyoneRunning } from '../../../sandbox/test/terminal/plain-launch.ts';
import { Formatters, type Formatting } from '../../formatting/formatters.ts';

const MODULES = resolve(import.meta.dirname, '../../../../node_modules');
const BIOME = ['npx', '--no-install', 'biome', 'format', '--stdin-file-path={file}'];

it.skipIf(NO_BUBBLEWRAP)("a project's Biome formats by the project's settings", async () => {
  const place = await formattingPlace(BIOME);
  await place.put('workspace/biome.json', '{"javascript":{"formatter":{"quoteStyle":"single"}}}');
  // On a busy machine npx alone takes longer than an edit waits, and after three times none is started for a minute.
  const patient = { timeout: 3 * MINUTE, interval: SECOND };
  await expect
    .poll(() => place.format('const  a = "x"\n'), patient)
    .toEqual({ state: 'formatted', by: 'biome', text: "const a = 'x';\n" });
  await expect
    .poll(() => place.format('const = \n'), patient)
    .toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(/^biome: it ended with exit code 1: .*a\.ts/),
    });
});

it.skipIf(NO_BUBBLEWRAP)('a formatter writes nothing of the workspace', async () => {
  const place = await formattingPlace(['sh', '-c', 'echo x > own.txt; echo x > a.ts; cat']);
  await place.put('workspace/a.ts', 'before\n');
  expect(await place.format('text\n')).toMatchObject({ state: 'formatted', text: 'text\n' });
  expect(existsSync(join(place.root, 'own.txt'))).toBe(false);
  expect(await place.text('workspace/a.ts')).toBe('before\n');
});

it.skipIf(NO_BUBBLEWRAP)('a formatter reaches no network', async () => {
  let reached = 0;
  const server = createServer((socket) => {
    reached++;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = Object(server.address());
  const connect = `(exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && echo reached; cat`;
  const place = await formattingPlace(['bash', '-c', connect]);
  expect(await place.format('text\n')).toMatchObject({ state: 'formatted', text: 'text\n' });
  expect(reached).toBe(0);
  server.close();
});

it.skipIf(NO_BUBBLEWRAP)(
  'a formatter that never ends is stopped, and not used for a minute after three times',
  async () => {
    const marker = '1000.4711';
    const place = await formattingPlace([
      ...['sh', '-c', `trap "" TERM; sleep ${marker} & sleep ${marker}; cat`],
    ]);
    for (const text of ['a', 'b', 'c']) {
      expect(await place.format(text)).toEqual({
        state: 'failed',
        reason: 'sh: it did not end in time',
      });
    }
    expect(await place.format('d')).toEqual({
      state: 'failed',
      reason: 'sh: it was too slow three times; it is not used for a minute',
    });
    await vi.waitFor(async () => expect(await isAnyoneRunning(`sleep\0${marker}`)).toBe(false));
  },
);

it.skipIf(NO_BUBBLEWRAP)('a formatter that floods is ended', async () => {
  const place = await formattingPlace(['yes', 'flood-4712']);
  expect(await place.format('a')).toEqual({
    state: 'failed',
    reason: 'yes: it printed too much',
  });
  await vi.waitFor(async () => expect(await isAnyoneRunning('flood-4712')).toBe(false));
});

/** A workspace whose `node_modules` are ours, with a formatter for `.ts`. */
async function formattingPlace(command: readonly string[]) {
  const place = await freshWorkspace({ readable: [MODULES] });
  const root = place.path('workspace');
  const stateDir = place.path('instances/state');
  await symlink(MODULES, join(root, 'node_modules'));
  const list = { formatters: [{ files: ['.ts'], command }] };
  await place.put('instances/state/formatters.json', JSON.stringify(list));
  const { confinement } = place;
  const formatters = new Formatters({ root, confinement, stateDir, isDistrusted: () => false });
  const format = (text: string): Promise<Formatting> => {
    const { signal } = new AbortController();
    return formatters.format({ callId: 'call_test', path: join(root, 'a.ts'), text }, signal);
  };
  return { ...place, root, format };
}

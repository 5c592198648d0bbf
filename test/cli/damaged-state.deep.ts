import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openState } from '../../local/state/state.ts';
import { mintToken } from '../../local/state/tokens.ts';
import { canMount, mountSmallDisk } from '../local/small-disk.ts';
import { temporaryFolder } from '../local/temporary-folder.ts';
import { callDrawbridge } from './called.ts';
import { newPlace, type Place, runDrawbridge, startReady, upArguments } from './drawbridge.ts';

/** No stack, and nothing else beside it. */
const ONE_LINE = /^drawbridge: (?!.*( at |Error:))[^\n]+\n$/;

const DAMAGES: Readonly<Record<string, (path: string) => void>> = {
  garbage: (path) => writeFileSync(path, 'garbage\n'.repeat(600)),
  'random bytes': (path) => writeFileSync(path, randomBytes(3000)),
  'a huge file': (path) => {
    writeFileSync(path, '');
    truncateSync(path, 3 * 2 ** 30);
  },
  'a folder': (path) => mkdirSync(path),
  'a FIFO': (path) => execFileSync('mkfifo', [path]),
};

describe('anything in the place of a file of the state is reported in one line, without a wait', () => {
  const cases = ['auth-secret', 'bridge.json', 'device.json', 'devices.json', 'token'].flatMap(
    (name) => Object.keys(DAMAGES).map((damage) => [name, damage] as const),
  );
  test.each(cases)('%s: %s', async (name, damage) => {
    const place = await newState();
    replace(place, name, damage);
    const command = name.startsWith('device') ? 'devices' : 'token';
    const { code, stderr } = await callDrawbridge(argumentsOf(command, place));
    // A token that is no good is replaced by a new one.
    const isReplaced = name === 'token' && ['garbage', 'random bytes'].includes(damage);
    if (isReplaced) expect([code, stderr]).toEqual([0, '']);
    else expect([code, stderr]).toEqual([2, expect.stringMatching(ONE_LINE)]);
    if (!isReplaced) expect(stderr).toContain(join(place.stateDir, name));
  });
});

describe('what stands in the place of the lock', () => {
  test.each(['garbage', 'random bytes'])('does no harm: %s', async (damage) => {
    const place = await newState();
    replace(place, 'lock', damage);
    const { code, stderr } = await callDrawbridge(argumentsOf('conversations', place));
    expect([code, stderr]).toEqual([1, expect.stringMatching(/No Drawbridge runs/)]);
    const { ready, process: up, finished } = await startReady(place);
    expect((await fetch(`${ready.url}/health`)).status).toBe(200);
    const second = await runDrawbridge(['serve', '--port', '0', '--state', place.stateDir]);
    expect([second.code, second.stderr]).toEqual([2, expect.stringMatching(/already runs/)]);
    up.kill('SIGTERM');
    expect((await finished).stderr).toBe('');
  });

  test.each(['a folder', 'a FIFO', 'a huge file'])(
    'is reported in one line: %s',
    async (damage) => {
      const place = await newState();
      replace(place, 'lock', damage);
      for (const args of [argumentsOf('conversations', place), upArguments(place)]) {
        const { code, stderr } = await runDrawbridge(args);
        expect([code, stderr]).toEqual([1, expect.stringMatching(ONE_LINE)]);
        expect(stderr).toContain(join(place.stateDir, 'lock'));
      }
    },
  );
});

describe('a bridge says in one line why it cannot use', () => {
  test.each([
    ['journal.jsonl', 'garbage'],
    ['journal.jsonl', 'a folder'],
    ['journal.jsonl.lock', 'a huge file'],
    ['journal.jsonl.lock', 'a folder'],
    ['journal.jsonl.lock', 'a FIFO'],
  ])('%s: %s', async (name, damage) => {
    const place = await newState();
    const { authSecret, bridgeId } = await openState(place);
    const token = await mintToken(authSecret, { scope: 'bridge', bridgeId }, new Date());
    replace(place, name, damage);
    const args = ['connect', 'http://127.0.0.1:1', ...argumentsOf('', place).slice(1)];
    const { code, stderr } = await runDrawbridge(args, { env: { DRAWBRIDGE_TOKEN: token } });
    expect([code, stderr]).toEqual([1, expect.stringMatching(ONE_LINE)]);
  });
});

test('a state folder that is deleted ends what runs on it, which says so and leaves nothing', async () => {
  const place = newPlace();
  const { finished } = await startReady(place);
  rmSync(place.stateDir, { recursive: true });
  const { code, stderr } = await finished;
  expect([code, stderr]).toEqual([1, expect.stringMatching(ONE_LINE)]);
  expect(stderr).toContain(`The state folder ${place.stateDir} was deleted`);
  expect(existsSync(place.stateDir)).toBe(false);
  expect(place.processes()).toEqual([]);
});

describe.skipIf(!canMount())('a disk', () => {
  test('that is full at the start is reported in one line', async () => {
    const place = await newState();
    const disk = mountDisk(place, '200k');
    disk.fill();
    rmSync(join(place.stateDir, 'token'), { force: true });
    const { code, stderr } = await runDrawbridge(upArguments(place));
    expect([code, stderr]).toEqual([1, expect.stringMatching(ONE_LINE)]);
    expect(stderr).toMatch(/full/);
    expect((await callDrawbridge(argumentsOf('token', place))).code).toBe(0);
  });

  test('that is full for a while is reported when it comes and goes, and everything goes on', async () => {
    const place = await newState();
    const disk = mountDisk(place, '24m');
    const { ready, process: up, finished, stderr } = await startReady(place);
    disk.fill();
    await expect.poll(stderr).toMatch(/^The disk of .* is full: .*\n$/);
    expect((await fetch(`${ready.url}/health`)).status).toBe(200);
    disk.empty();
    await expect.poll(stderr).toMatch(/\nThe state folder .* again\.\n$/);
    up.kill('SIGTERM');
    expect((await finished).code).toBe(0);
  });

  test('that is read-only is reported in one line, and what is stored can be used', async () => {
    const place = await newState();
    mountDisk(place, '1m');
    execFileSync('mount', ['-o', 'remount,ro', place.stateDir]);
    const { code, stderr } = await runDrawbridge(upArguments(place));
    expect([code, stderr]).toEqual([1, expect.stringMatching(ONE_LINE)]);
    expect(stderr).toMatch(/read-only/);
    expect((await callDrawbridge(argumentsOf('token', place))).code).toBe(0);
  });
});

async function newState(): Promise<Place> {
  const place = newPlace();
  await openState(place);
  return place;
}

function replace({ stateDir }: Place, name: string, damage: string): void {
  const path = join(stateDir, name);
  rmSync(path, { force: true });
  DAMAGES[damage]?.(path);
}

function argumentsOf(command: string, { workspaceDir, stateDir }: Place): string[] {
  return [command, '--workspace', workspaceDir, '--state', stateDir];
}

/** Moves the state to a disk of its own. */
function mountDisk({ stateDir }: Place, size: string) {
  const files = temporaryFolder();
  execFileSync('cp', ['-a', `${stateDir}/.`, files]);
  const disk = mountSmallDisk(stateDir, size);
  for (const name of readdirSync(files)) {
    execFileSync('cp', ['-a', join(files, name), stateDir]);
  }
  return disk;
}

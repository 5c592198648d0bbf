import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../../../test/local/temporary-folder.ts';
import { hostHeader, hostsFor, placeHere } from '../../../ide/discovery/place.ts';
import { unending } from './announcing.ts';

test('sees this machine', async () => {
  const place = await placeHere('/work', process.env, unending);
  expect(place).toMatchObject({ workspace: '/work', pid: process.pid, userId: process.getuid?.() });
  expect(place.temporaryFolders).toEqual(
    expect.arrayContaining([tmpdir(), '/tmp'].map((folder) => realpathSync(folder))),
  );
});

test.runIf(process.platform === 'linux')(
  'looks into the temporary folder of its ancestors',
  async () => {
    const TMPDIR = temporaryFolder();
    const module = JSON.stringify(new URL('../../../ide/discovery/place.ts', import.meta.url).href);
    const program = `const { placeHere } = await import(${module});
    console.log(JSON.stringify(await placeHere('/', process.env, new AbortController().signal)))`;
    const parent = spawn(
      'sh',
      ['-c', 'env -u TMPDIR "$0" --input-type=module -e "$1"; :', process.execPath, program],
      {
        env: { ...process.env, TMPDIR },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const [text] = await once(parent.stdout.setEncoding('utf8'), 'data');
    expect(JSON.parse(text).temporaryFolders).toContain(TMPDIR);
  },
);

test.each([
  ['outside of a container', {}, false],
  ['where the editor runs in the same container', { REMOTE_CONTAINERS: 'true' }, true],
  ['over SSH', { SSH_CONNECTION: '1' }, true],
])('tries only this machine %s', async (_, environment, isInContainer) => {
  // Asks for no name: that would end with the signal.
  const ended = AbortSignal.abort();
  expect(await hostsFor({ environment, isInContainer }, ended)).toEqual(['127.0.0.1']);
});

test("tries the container's host, if it has a name, after this machine", async () => {
  const hosts = await hostsFor({ environment: {}, isInContainer: true }, unending);
  expect(hosts[0]).toBe('127.0.0.1');
  expect(hosts.length).toBeLessThanOrEqual(2);
  const cut = hostsFor({ environment: {}, isInContainer: true }, AbortSignal.abort());
  await expect(cut).rejects.toThrow();
});

test('names a port of this machine whatever the address', () => {
  expect(hostHeader(80)).toBe('127.0.0.1:80');
});

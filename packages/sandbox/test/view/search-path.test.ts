import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../../test/bridge/tools/temporary-workspace.ts';
import { secretsAmongPrograms } from '../../view/program-secrets.ts';
import { shownPaths } from '../../view/view.ts';
import { confinedTo, NO_BUBBLEWRAP, sandboxedWorkspace } from '../sandboxed-workspace.ts';

test.each(['bin', 'sbin'])(
  'a %s on PATH shows the libraries beside it, and no secret',
  async (bin) => {
    const base = await temporaryFolder();
    const names = ['.env', '.git/config', 'config/key.pem', 'etc/token', 'src/main.c', 'var/data'];
    const beside = ['lib/a', 'lib64/a', 'libexec/a', 'share/a', `${bin}/tool`];
    for (const name of [...names, ...beside]) {
      await mkdir(dirname(join(base, 'tools', name)), { recursive: true });
      await writeFile(join(base, 'tools', name), '');
    }
    for (const name of ['home', 'workspace']) await mkdir(join(base, name));
    const home = join(base, 'home');
    const shown = await shownPaths({
      workspace: join(base, 'workspace'),
      account: { uid: 1, gid: 1, name: 'a', home, prefix: [] },
      home,
      searchPath: join(base, 'tools', bin),
      readable: [],
      closedFolders: [],
    });
    expect(shown.toSorted()).toEqual(
      beside.map((name) => join(base, 'tools', dirname(name))).toSorted(),
    );
  },
);

test.skipIf(NO_BUBBLEWRAP)(
  'secrets among them are closed to commands, and certificates are not',
  async () => {
    const place = await sandboxedWorkspace();
    const files = {
      'kit/bin/tool': '#!/bin/sh\necho the tool runs',
      'kit/bin/.env': 'LOOT',
      'kit/lib/app/.env.production': 'LOOT',
      'kit/lib/server.pem': '-----BEGIN PRIVATE KEY-----LOOT',
      'kit/share/.aws/credentials': 'LOOT',
      'kit/lib/cacert.pem': '-----BEGIN CERTIFICATE-----',
      'kit/.env': 'LOOT',
    };
    for (const [name, text] of Object.entries(files)) await place.put(name, text);
    await chmod(place.path('kit/bin/tool'), 0o755);
    const { surroundings } = place;
    const PATH = `${place.path('kit/bin')}:${surroundings.environment['PATH']}`;
    const environment = { ...surroundings.environment, PATH };
    const run = await confinedTo(
      { ...place, surroundings: { ...surroundings, environment } },
      'workspace',
    );
    const names = Object.keys(files).map((name) => place.path(name));
    const printed = await run(`tool; cat ${names.slice(1).join(' ')} 2>/dev/null`, []);
    expect(printed).toBe('the tool runs\n-----BEGIN CERTIFICATE-----');
    await place.remove();
  },
);

test('a folder that cannot be searched whole is not shown', async () => {
  expect(await secretsAmongPrograms('/nowhere/at/all')).toBeUndefined();
  const base = await temporaryFolder();
  for (let number = 0; number <= 50; number++) {
    await mkdir(join(base, String(number)));
    await writeFile(join(base, String(number), '.env'), '');
  }
  expect(await secretsAmongPrograms(base)).toBeUndefined();
});

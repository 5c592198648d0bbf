/** An upgrade by a real process that gets SIGKILL at random moments, again and again until it is through. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openFormat } from '../../../local/state/upgrade.ts';
import { deep } from '../../depth.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { filesIn } from './archived-files.ts';
import { STEPS } from './upgrade-steps.ts';

const ROUNDS = deep(30);
/** Longer than the upgrade takes on a quiet machine, so that some rounds are not killed in it. */
const LONGEST_MS = 60;
const STORED = 'x'.repeat(64 * 1024);
const OLD = { 'settings.json': 'zero', 'projects/a/rules.json': 'zero', old: 'zero' };
const NEW = { 'settings.json': 'two and three', 'projects/a/rules.json': 'two' };

test('everything is there after an upgrade that was killed at any moment', async () => {
  let killed = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const dir = oldState();
    // The second kill meets what the first one has left.
    for (const kill of [1, 2]) {
      const upgrade = startUpgrade(dir);
      await once(upgrade.stdout as NonNullable<ChildProcess['stdout']>, 'data');
      const ended = once(upgrade, 'exit');
      await Promise.race([sleep((LONGEST_MS * ((round * 7 + kill) % ROUNDS)) / ROUNDS), ended]);
      upgrade.kill('SIGKILL');
      const [code, signal] = await ended;
      expect([0, null]).toContain(code);
      if (signal === 'SIGKILL') killed += 1;
    }
    const { format } = await openFormat(dir, STEPS);
    expect([round, format, changedIn(dir), leftIn(dir)]).toEqual([round, 3, NEW, []]);
    for (let n = 0; n < 20; n++) expect(read(dir, `storage/${n}.sqlite`)).toBe(STORED);
    const backups = readdirSync(join(dir, 'backups'));
    const oldest = await filesIn(join(dir, 'backups', backups.sort()[0] ?? ''));
    expect([round, oldest]).toEqual([round, { ...OLD, 'auth-secret': 'secret' }]);
  }
  expect(killed).toBeGreaterThan(ROUNDS / 2);
});

function startUpgrade(dir: string): ChildProcess {
  const [upgrade, steps] = ['../../../local/state/upgrade.ts', 'upgrade-steps.ts'].map((path) =>
    JSON.stringify(join(import.meta.dirname, path)),
  );
  const program = `const { openFormat } = await import(${upgrade});
    const { STEPS } = await import(${steps});
    process.stdout.write('go');
    await openFormat(${JSON.stringify(dir)}, STEPS);`;
  const args = ['--input-type=module', '--eval', program];
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
}

function oldState(): string {
  const dir = join(temporaryFolder(), 'state');
  mkdirSync(join(dir, 'projects/a'), { recursive: true });
  mkdirSync(join(dir, 'storage'));
  for (const [path, text] of Object.entries({ ...OLD, 'auth-secret': 'secret' })) {
    writeFileSync(join(dir, path), text);
  }
  for (let n = 0; n < 20; n++) writeFileSync(join(dir, `storage/${n}.sqlite`), STORED);
  return dir;
}

function read(dir: string, path: string): string {
  return readFileSync(join(dir, path), 'utf8');
}

/** The files that the steps change. */
function changedIn(dir: string): Record<string, string> {
  const there = Object.keys(OLD).filter((path) => existsSync(join(dir, path)));
  return Object.fromEntries(there.map((path) => [path, read(dir, path)]));
}

function leftIn(dir: string): string[] {
  const all = readdirSync(dir, { recursive: true, encoding: 'utf8' });
  return all.filter((name) => /\.(upgrade|partial|tmp)$|upgrade\.json$/.test(name));
}

/** `npm run bench:escapes`: tries to escape from the sandbox, in all listed ways at once. See `--help`. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { probeConfinement } from '../packages/sandbox/index.ts';
import {
  type Attack,
  LOOT,
  MARK,
  ON_PATH,
  PERSONAL_FILES,
  PLAIN,
  RACES,
} from './escapes/attacks.ts';
import { type AttackResult, Siege } from './escapes/siege.ts';
import { Random } from './fuzz/random.ts';

const HELP = `Usage: npm run bench:escapes [-- --minutes N] [--seed N]

Runs commands in the real sandbox that try to read what they may not, to write where they may not, and to leave it: each
way of the list again and again, several at once, with programs beside them that exchange names without pause. Prints
how often each was tried, how often its command could not be run, and how often it got out. The exit code is 1 when any
did. Linux with bubblewrap; as root the workspace is given to user 1234.
`;

await main();

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '5' },
      seed: { type: 'string', default: '1' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  const attacks = [...RACES, ...PLAIN];
  const base = layOut(attacks);
  try {
    const results = await besiege(base, attacks, Number(values.minutes), Number(values.seed));
    const marked = markedOutside(base);
    process.stdout.write(formatReport(results, marked));
    const hits = results.reduce((total, { hits }) => total + hits, 0);
    const untried = results.some(({ attempts, failed }) => attempts === failed);
    if (hits > 0 || marked.length > 0 || untried) process.exitCode = 1;
  } finally {
    execFileSync('chmod', ['-R', 'u+rwx', base]);
    // Uses `rm`, because Node fails on paths longer than the kernel takes at once.
    execFileSync('rm', ['-rf', base]);
  }
}

async function besiege(
  base: string,
  attacks: readonly Attack[],
  minutes: number,
  seed: number,
): Promise<AttackResult[]> {
  const confinement = await probeConfinement({
    workspace: join(base, 'workspace'),
    home: join(base, 'home'),
    closedFolders: [join(base, 'instances')],
    maskFolder: join(base, 'masks'),
    cacheFolder: join(base, 'instances/own/caches'),
    environment: {
      PATH: `${join(base, ON_PATH)}:/usr/local/bin:/usr/bin:/bin`,
      HOME: join(base, 'home'),
    },
  });
  process.stderr.write(
    `${confinement.detail}\n${attacks.length} attacks, ${minutes} minutes, seed ${seed}\n`,
  );
  if (confinement.kind === 'none') throw new Error('There is no sandbox here to get out of.');
  const siege = new Siege(confinement, base, new Random(seed));
  return await siege.run(attacks, minutes * 60_000);
}

/** Makes the folders around the workspace, and in it one folder for each attack. */
function layOut(attacks: readonly Attack[]): string {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'drawbridge-escapes-')));
  const put = (name: string, text: string) => {
    mkdirSync(dirname(join(base, name)), { recursive: true });
    writeFileSync(join(base, name), text);
  };
  for (const name of PERSONAL_FILES) put(name, LOOT);
  put(join(ON_PATH, 'kit'), '#!/bin/sh\n');
  for (const [index, { files = {}, links = {} }] of attacks.entries()) {
    const folder = join('workspace', Siege.folderOf(index));
    mkdirSync(join(base, folder), { recursive: true });
    for (const [name, text] of Object.entries(files)) put(join(folder, name), text);
    for (const [name, target] of Object.entries(links)) {
      mkdirSync(dirname(join(base, folder, name)), { recursive: true });
      symlinkSync(target, join(base, folder, name));
    }
  }
  if (process.getuid?.() === 0) execFileSync('chown', ['-hR', '1234:1234', base]);
  mkdirSync(join(base, 'programs'), { mode: 0o700 });
  return base;
}

/** Files outside the workspace, or in the person's repository, that a command has written. */
function markedOutside(base: string): string[] {
  const script =
    'grep -rl "$1" "$0/home" "$0/instances" "$0/outside"; find "$0" -maxdepth 1 -name made; ' +
    'find "$0/workspace" -name person -path "*/.git/person" -printf "%h\\0" | xargs -0 -r grep -rl "$1"; true';
  const output = execFileSync('/bin/sh', ['-c', script, base, MARK], { encoding: 'utf8' });
  return output.split('\n').filter((line) => line !== '');
}

function formatReport(results: readonly AttackResult[], marked: readonly string[]): string {
  const width = Math.max(...results.map(({ name }) => name.length));
  const line = (name: string, ...figures: readonly (string | number)[]) =>
    `${name.padEnd(width)}${figures.map((figure) => String(figure).padStart(10)).join('')}\n`;
  const sum = (pick: (result: AttackResult) => number) =>
    results.reduce((total, result) => total + pick(result), 0);
  return [
    line('attack', 'attempts', 'not run', 'hits'),
    ...results.map(({ name, attempts, failed, hits }) => line(name, attempts, failed, hits)),
    line(
      'all',
      sum(({ attempts }) => attempts),
      sum(({ failed }) => failed),
      sum(({ hits }) => hits),
    ),
    `files that were written outside: ${marked.length === 0 ? 'none' : marked.join(', ')}\n`,
  ].join('');
}

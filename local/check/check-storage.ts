/** Checks every database of a storage folder, and names whose each damaged one is. */
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { newDeferred } from '../../machine/deferred.ts';
import { replaceFile } from '../../machine/private-files.ts';
import { LOCAL_LIMITS } from '../limits.ts';
import { beside, whenAborted } from '../processes/beside.ts';
import { openLogFile } from '../processes/log-file.ts';
import { urlOf } from '../runtime/address.ts';
import { runWorker } from '../runtime/runtime.ts';
import { uniqueKeyOf } from '../runtime/workerd-config.ts';
import { CHECKER_SOURCE } from './checker-source.ts';

/** A database that is damaged. */
export interface DamagedFile {
  /** In the state folder. */
  readonly path: string;
  /** What it holds, such as `conversation conv_… of account ana`. */
  readonly what: string;
  /** What SQLite says of it. */
  readonly problem: string;
}

/** A whole conversation that no list has, of an account that was deleted. */
export interface LeftFile {
  readonly path: string;
  readonly conversation: string;
  readonly account: string;
}

/** A file of an account: its own, or that of a conversation or a bridge. */
export interface OwnedFile {
  readonly path: string;
  readonly kind: string;
  readonly account: string;
}

export interface StorageCheck {
  readonly files: number;
  /** Whose each file is, as far as it can be known. */
  readonly owned: readonly OwnedFile[];
  readonly damaged: readonly DamagedFile[];
  readonly left: readonly LeftFile[];
}

/** What {@link CHECKER_SOURCE} finds in one file. Absent where the file cannot tell it. */
const FileLook = z.object({
  hex: z.string(),
  problem: z.string().nullable(),
  id: z.string().optional(),
  owner: z.string().optional(),
  /** Of an account: its conversations and bridges, and its state. */
  ids: z.array(z.string()).default([]),
  state: z.string().optional(),
  /** Names in its records, which can be those of accounts. */
  subjects: z.array(z.string()).default([]),
});
type FileLook = z.infer<typeof FileLook>;

/** What an object of each class is to a person. */
const KINDS: Readonly<Record<string, string>> = {
  Conversation: 'conversation',
  Account: 'account',
  Tunnel: 'bridge',
  Directory: 'directory of sessions, invitations and keys of apps',
  RunsInProgress: 'list of runs in progress',
};

/**
 * Opens each database inside workerd, which can on every Node, and has SQLite check it. **Changes the folder**: give it
 * a copy, which no other process has open. `accounts` are names to look for beside those in the files.
 */
export async function checkStorage(
  storageDir: string,
  signal: AbortSignal,
  accounts: readonly string[] = [],
): Promise<StorageCheck> {
  const folders = existsSync(storageDir) ? await readdir(storageDir) : [];
  const prefix = uniqueKeyOf('');
  const classes = folders
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length));
  if (classes.length === 0) return { files: 0, owned: [], damaged: [], left: [] };
  // A Worker that starts would run the alarms in it.
  for (const name of classes)
    await renameDatabase(join(storageDir, uniqueKeyOf(name)), ALARMS, 'kept');
  const buildDir = await mkdtemp(join(tmpdir(), 'drawbridge-check-'));
  try {
    return await withChecker(buildDir, storageDir, classes, signal, async (ask) => {
      const looks = new Map<string, readonly FileLook[]>();
      for (const name of classes) {
        const folder = join(storageDir, uniqueKeyOf(name));
        const [alarms = ''] = await ask('ids', name, [ALARMS], z.array(z.string()));
        await renameDatabase(folder, 'kept', alarms);
        looks.set(name, await lookAll(ask, name, await databasesIn(folder)));
      }
      return await judge(looks, ask, accounts);
    });
  } finally {
    await rm(buildDir, { recursive: true, force: true });
  }
}

/** workerd keeps here when each object of a class is to wake. */
const ALARMS = 'metadata';

async function renameDatabase(folder: string, from: string, to: string): Promise<void> {
  for (const end of ['.sqlite', '.sqlite-wal']) {
    const path = join(folder, `${from}${end}`);
    if (existsSync(path)) await rename(path, join(folder, `${to}${end}`));
  }
}

async function databasesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names.flatMap((name) => /^([0-9a-f]{64})\.sqlite$/.exec(name)?.[1] ?? []);
}

type Ask = <Answer>(
  task: 'look' | 'ids',
  className: string,
  names: readonly string[],
  schema: z.ZodType<Answer>,
) => Promise<Answer>;

async function withChecker<Result>(
  buildDir: string,
  storageDir: string,
  classes: readonly string[],
  signal: AbortSignal,
  work: (ask: Ask) => Promise<Result>,
): Promise<Result> {
  const moduleFile = 'checker.js';
  const objects = classes.map((name) => `export class ${name} extends CheckedDatabase {}`);
  replaceFile(join(buildDir, moduleFile), `${CHECKER_SOURCE}\n${objects.join('\n')}\n`);
  const listening = newDeferred<number>();
  const runtime = {
    wrangler: {
      compatibilityDate: '2026-01-01',
      compatibilityFlags: [],
      durableObjects: classes.map((className) => ({ binding: className, className })),
    },
    buildDir,
    moduleFile,
    storageDir,
    pageDir: buildDir,
    port: 0,
    variables: {},
    log: openLogFile(join(buildDir, 'workerd.log')),
    onListening: listening.resolve,
    onRestart: () => {},
  };
  return await beside(
    (ending) => runWorker(runtime, ending),
    async (running) => {
      const url = urlOf(await Promise.race([listening.promise, whenAborted(running)]));
      return await work(async (task, className, names, schema) => {
        const body = JSON.stringify({ task, className, names });
        const response = await fetch(url, { method: 'POST', body, signal: running });
        return schema.parse(await response.json());
      });
    },
    signal,
  );
}

async function lookAll(ask: Ask, className: string, all: readonly string[]): Promise<FileLook[]> {
  const looks: FileLook[] = [];
  for (let from = 0; from < all.length; from += LOCAL_LIMITS.checkedAtOnce) {
    const part = all.slice(from, from + LOCAL_LIMITS.checkedAtOnce);
    looks.push(...(await ask('look', className, part, z.array(FileLook))));
  }
  return looks;
}

async function judge(
  looks: ReadonlyMap<string, readonly FileLook[]>,
  ask: Ask,
  wanted: readonly string[],
): Promise<StorageCheck> {
  const of = (className: string) => looks.get(className) ?? [];
  const parts = [...of('Conversation'), ...of('Tunnel')];
  const named = [
    ...parts.map(({ owner }) => owner),
    ...[...looks.values()].flat().flatMap(({ subjects }) => subjects),
  ];
  const owners = [...new Set(['local', ...wanted, ...named])].filter((name) => name !== undefined);
  const accounts = await namesOf(ask, looks, 'Account', owners);
  // What a damaged file does not say, the list of its account may: the name of a file is made of the object's id.
  const ownerOf = new Map<string, string>();
  for (const { hex, ids } of of('Account')) {
    for (const id of ids) ownerOf.set(id, accounts.get(hex) ?? 'of an unknown name');
  }
  const listed = [...ownerOf.keys()];
  const alarms = [ALARMS];
  const damaged: DamagedFile[] = [];
  const owned: OwnedFile[] = [];
  const left: LeftFile[] = [];
  const deleted = new Set(
    of('Account').flatMap(({ hex, state }) =>
      state === 'deleted' ? (accounts.get(hex) ?? []) : [],
    ),
  );
  for (const [className, found] of looks) {
    const names = await namesOf(ask, looks, className, [...listed, ...alarms, 'directory']);
    for (const { hex, problem, ...known } of found) {
      const path = `storage/${uniqueKeyOf(className)}/${hex}.sqlite`;
      const id = known.id ?? (className === 'Account' ? accounts.get(hex) : names.get(hex));
      const owner = known.owner ?? ownerOf.get(id ?? '');
      const isAlarms = names.get(hex) === ALARMS;
      const account = className === 'Account' ? id : owner;
      const kind = KINDS[className] ?? className;
      if (account !== undefined && !isAlarms) owned.push({ path, kind, account });
      if (problem !== null && isAlarms) {
        const what = `list of the alarms of each ${KINDS[className]}`;
        damaged.push({ path: path.replace(hex, ALARMS), what, problem });
      } else if (problem !== null) {
        const name = className in NAMELESS ? '' : ` ${id ?? 'of an unknown id'}`;
        const whose = owner === undefined ? '' : ` of account ${owner}`;
        damaged.push({ path, what: `${KINDS[className] ?? className}${name}${whose}`, problem });
      } else if (
        className === 'Conversation' &&
        id &&
        owner &&
        deleted.has(owner) &&
        !ownerOf.has(id)
      ) {
        left.push({ path, conversation: id, account: owner });
      }
    }
  }
  const files = [...looks.values()].reduce((sum, found) => sum + found.length, 0);
  return { files, owned, damaged, left };
}

/** Classes of which there is one object. */
const NAMELESS: Readonly<Record<string, true>> = { Directory: true, RunsInProgress: true };

/** The names by the files that their objects have. */
async function namesOf(
  ask: Ask,
  looks: ReadonlyMap<string, readonly FileLook[]>,
  className: string,
  names: readonly string[],
): Promise<Map<string, string>> {
  if (!looks.has(className)) return new Map();
  const ids = await ask('ids', className, names, z.array(z.string()));
  return new Map(ids.map((hex, index) => [hex, names[index] ?? '']));
}

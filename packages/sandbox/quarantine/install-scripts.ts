/** Notices which install scripts a command has added or changed. `npm install` runs them without asking. */

import { lstatSync, type Stats } from 'node:fs';
import * as z from 'zod';
import { type BytePath, shownName, toBytes } from '../../../machine/byte-path.ts';
import { sha256 } from '../../../machine/hash.ts';
import { words } from '../../../machine/words.ts';
import { TOOL_LIMITS } from '../../../shared/limits.ts';
import { parseIfJson } from '../../../shared/text/json.ts';
import { inOneLine, shorten } from '../../../shared/text/plain-sight.ts';
import { isSettled, stampText, TREE_LIMITS } from '../../workspace/index.ts';
import { HeldFolder } from './held-folder.ts';
import { QUARANTINE_LIMITS } from './limits.ts';

/** One file, and the scripts in it that an install would run. */
export interface ScriptNews {
  readonly name: string;
  readonly what: readonly string[];
}

type Scripts = ReadonlyMap<string, string>;

interface KnownScripts {
  /** Empty where the file must be read again. */
  readonly stamp: string;
  readonly scripts: Scripts;
}

/** For one workspace. An unchanged file costs one `lstat`. */
export class InstallScripts {
  readonly #workspace: BytePath;
  #files = new Map<BytePath, KnownScripts>();

  constructor(workspace: BytePath) {
    this.#workspace = workspace;
  }

  /**
   * The scripts in these files that have changed since the last look and after `sinceMs`. The person made older changes.
   */
  async news(manifests: readonly BytePath[], sinceMs: number): Promise<readonly ScriptNews[]> {
    const news: ScriptNews[] = [];
    const files = new Map<BytePath, KnownScripts>();
    for (const path of manifests) {
      const known = this.#files.get(path);
      const looked = await this.#look(path, known);
      if (looked === undefined) continue;
      files.set(path, looked.file);
      const what = changesOf(known?.scripts ?? NO_SCRIPTS, looked.file.scripts);
      const name = shownName(path.slice(this.#workspace.length + 1));
      if (what.length > 0 && looked.changedMs >= sinceMs - QUARANTINE_LIMITS.clockSlackMs) {
        news.push({ name, what });
      }
    }
    this.#files = files;
    return news;
  }

  async #look(
    path: BytePath,
    known: KnownScripts | undefined,
  ): Promise<{ file: KnownScripts; changedMs: number } | undefined> {
    const stats = statsOf(path);
    if (stats === undefined) return undefined;
    const stamp = isSettled(stats, Date.now(), TREE_LIMITS.settledMs) ? stampText(stats) : '';
    if (stamp !== '' && known?.stamp === stamp) return { file: known, changedMs: 0 };
    const scripts = await scriptsOf(path).catch(() => NO_SCRIPTS);
    return { file: { stamp, scripts }, changedMs: stats.ctimeMs };
  }
}

const NO_SCRIPTS: Scripts = new Map();

/** All scripts that npm, yarn and pnpm run by themselves for an install in the folder. */
const INSTALL_SCRIPTS = words(`
  preinstall install postinstall prepublish preprepare prepare postprepare dependencies
  pnpm:devPreinstall
`);

/** The files that an install obeys. */
const LOOKS: Readonly<Record<BytePath, (bytes: Buffer) => Scripts>> = {
  'package.json': (bytes) => {
    const parsed = PackageFile.safeParse(toValue(bytes.toString('utf8')));
    const scripts = parsed.data?.scripts ?? {};
    return new Map(
      INSTALL_SCRIPTS.flatMap((name) => {
        const script = scripts[name];
        return typeof script === 'string' ? [[name, script] as const] : [];
      }),
    );
  },
  // npm builds the module that this file describes.
  'binding.gyp': (bytes) => new Map([['npm builds it', sha256(bytes)]]),
};

export const MANIFESTS: ReadonlySet<BytePath> = new Set(Object.keys(LOOKS));

const PackageFile = z.object({ scripts: z.record(z.string(), z.unknown()) });

/** Strips a byte order mark, as npm does. */
/** Undefined for what npm cannot read either. */
function toValue(json: string): unknown {
  return parseIfJson(json.replace(/^\ufeff/, ''));
}

async function scriptsOf(path: BytePath): Promise<Scripts> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  await using held = await HeldFolder.open(path.slice(0, -name.length - 1));
  const bytes = await held.read(name, TOOL_LIMITS.maxFileBytes);
  if (bytes === undefined) return new Map([['install', 'what this link or odd file leads to']]);
  return LOOKS[name]?.(bytes) ?? NO_SCRIPTS;
}

function changesOf(before: Scripts, after: Scripts): string[] {
  return [...after]
    .filter(([name, script]) => before.get(name) !== script)
    .map(([name, script]) =>
      shorten(inOneLine(`${name} = ${script}`), QUARANTINE_LIMITS.maxWhatChars),
    );
}

function statsOf(path: BytePath): Stats | undefined {
  try {
    return lstatSync(toBytes(path), { throwIfNoEntry: false });
  } catch {
    return undefined; // We may not look at the file, so an install of ours does not run it.
  }
}

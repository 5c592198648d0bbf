/** The owner's answer about hooks: `hooks.json` in the state folder has the digests of those that may run. */
import { join } from 'node:path';
import * as z from 'zod';
import { LocalError } from '../../machine/local-error.ts';
import { readIfThere, replaceFile } from '../../machine/private-files.ts';
import { parseIfJson } from '../../shared/text/json.ts';

const Trusted = z.strictObject({
  /** Of the definition and of the files that its command names. */
  digest: z.string(),
  /** For people. */
  source: z.string(),
  command: z.string(),
  time: z.iso.datetime(),
});
export type Trusted = z.infer<typeof Trusted>;

const TrustFile = z.strictObject({ hooks: z.array(Trusted) });

/** @throws {LocalError} where the file is not ours, or damaged: what was trusted is unknown then. */
export async function readTrusted(stateDir: string): Promise<readonly Trusted[]> {
  const path = join(stateDir, FILE);
  const text = await readIfThere(path);
  if (text === undefined) return [];
  const { data } = TrustFile.safeParse(parseIfJson(text));
  if (data) return data.hooks;
  throw new LocalError('refused', `${path} is damaged: \`drawbridge hooks forget\` replaces it.`);
}

/** Replaces what was trusted before. */
export function writeTrusted(stateDir: string, hooks: readonly Trusted[]): void {
  replaceFile(join(stateDir, FILE), `${JSON.stringify({ hooks }, null, 2)}\n`);
}

const FILE = 'hooks.json';

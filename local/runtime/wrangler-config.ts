/** Reads from `wrangler.toml` what the local runtime needs to run the same Worker. */
import { readFile } from 'node:fs/promises';
import * as z from 'zod';

export interface WranglerConfig {
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  readonly durableObjects: readonly { readonly binding: string; readonly className: string }[];
}

/** Reads the project's own file. @throws if its form differs from the file in this repository. */
export async function readWranglerConfig(path: string): Promise<WranglerConfig> {
  return parseWranglerConfig(await readFile(path, 'utf8'));
}

/** No TOML parser: it reads the few lines that it needs from one file in this repository, which a test checks. */
export function parseWranglerConfig(toml: string): WranglerConfig {
  const date = /^compatibility_date = "(.+)"$/m.exec(toml)?.[1];
  const flags = /^compatibility_flags = (\[.*\])$/m.exec(toml)?.[1];
  const objects = toml.matchAll(
    /^\[\[durable_objects\.bindings\]\]\nname = "(?<binding>\w+)"\nclass_name = "(?<className>\w+)"$/gm,
  );
  return Config.parse({
    compatibilityDate: date,
    compatibilityFlags: JSON.parse(flags ?? '[]'),
    durableObjects: Array.from(objects, (match) => match.groups),
  });
}

const Config = z.object({
  compatibilityDate: z.iso.date(),
  compatibilityFlags: z.array(z.string()),
  durableObjects: z.array(z.object({ binding: z.string(), className: z.string() })).min(1),
});

/** The owner's choice of language servers: `language-servers.json` in the state folder. */
import { join } from 'node:path';
import * as z from 'zod';
import { readIfThere } from '../../machine/private-files.ts';
import { shellWord } from '../../machine/shell-word.ts';
import { parseIfJson } from '../../shared/text/json.ts';
import { KNOWN_SERVERS, type ServerKind } from './known-servers.ts';
import { DIAGNOSTICS_LIMITS } from './limits.ts';

const Own = z.object({
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  /** By extension with its dot, the name of the language. */
  files: z.record(z.string().regex(/^\.[\w.-]+$/), z.string().min(1)),
});

const List = z.strictObject({
  /** False: no server runs. */
  enabled: z.boolean().default(true),
  /** By name. False turns off a known server; another one comes before the known ones. */
  servers: z.record(z.string(), z.union([z.literal(false), Own])).default({}),
});

/** The servers in the order in which they are asked for a file; or why there are none. */
export type ServerChoice =
  | { readonly state: 'known'; readonly kinds: readonly ServerKind[] }
  | { readonly state: 'none'; readonly reason: string };

/** Read anew for each check, so that a changed file counts at once. */
export async function readServerChoice(stateDir: string): Promise<ServerChoice> {
  const text = await readIfThere(join(stateDir, 'language-servers.json')).catch(() => '');
  if (text === undefined) return { state: 'known', kinds: KNOWN_SERVERS };
  const isShort = text.length <= DIAGNOSTICS_LIMITS.maxListBytes;
  const { data } = List.safeParse(isShort ? parseIfJson(text) : undefined);
  if (data === undefined) return { state: 'none', reason: WRONG };
  if (!data.enabled) return { state: 'none', reason: 'the owner of this machine turned it off' };
  const { servers } = data;
  const own = Object.entries(servers).flatMap(([name, server]): ServerKind[] => {
    if (server === false) return [];
    const words = [server.command, ...server.args].map(shellWord);
    return [{ name, files: server.files, command: `exec ${words.join(' ')}` }];
  });
  const others = KNOWN_SERVERS.filter(({ name }) => !Object.hasOwn(servers, name));
  return { state: 'known', kinds: [...own, ...others] };
}

const WRONG =
  'language-servers.json in the state folder is not right. Expected: ' +
  '{"servers": {"NAME": {"command": "PROGRAM", "args": [], "files": {".ext": "language"}}}}';

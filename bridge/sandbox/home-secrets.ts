/** What in a home folder holds credentials or private life, and is hidden from commands. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { closureOf, SECRET_FOLDERS } from './protected.ts';

/** Relative to the home folder; the names that are secret anywhere come on top. */
const HOME_SECRETS = [
  ...SECRET_FOLDERS,
  '.docker',
  '.terraform.d',
  '.password-store',
  '.mozilla',
  '.thunderbird',
  '.npmrc',
  '.yarnrc.yml',
  '.vault-token',
  '.bash_history',
  '.zsh_history',
  '.python_history',
  '.node_repl_history',
  '.psql_history',
  '.config/gcloud',
  '.config/gh',
  '.config/hub',
  '.config/op',
  '.config/git/credentials',
  '.config/google-chrome',
  '.config/chromium',
  '.config/BraveSoftware',
  '.local/share/keyrings',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.gem/credentials',
  '.m2/settings.xml',
  '.gradle/gradle.properties',
  '.claude/.credentials.json',
  '.codex/auth.json',
  '.gemini/oauth_creds.json',
  '.qwen/oauth_creds.json',
] as const;

/** Absolute paths, whether or not they exist. */
export async function homeSecrets(home: string): Promise<string[]> {
  // A home that cannot be listed by us cannot be listed by a command of ours either.
  const names = await readdir(home).catch((): string[] => []);
  const secretNames = names.filter((name) => closureOf(name) === 'secret');
  return [...new Set([...HOME_SECRETS, ...secretNames])].map((name) => join(home, name));
}

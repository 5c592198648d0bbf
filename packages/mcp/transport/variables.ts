/** Fills in the variables of a listed server: `${NAME}` of the bridge's environment, and `${workspaceFolder}`. Pure. */

import { basename, sep } from 'node:path';
import type { Environment } from '../../../machine/environment.ts';
import type { ServerConfig } from '../server-list.ts';

export interface VariablePlace {
  /** Absolute. */
  readonly workspace: string;
  /** Of the bridge. */
  readonly environment: Environment;
}

/** @throws {Error} for a variable that is not set and has no default, in words for the owner. */
export function withVariables<Config extends ServerConfig>(
  config: Config,
  place: VariablePlace,
): Config {
  return mapTexts(config, (text) => fill(text, place));
}

/** The names of the variables that a server takes from the bridge's environment: the owner sees them. */
export function variablesIn(config: ServerConfig): readonly string[] {
  const names = new Set<string>();
  mapTexts(config, (text) => {
    for (const [, inner = ''] of text.matchAll(VARIABLE)) {
      const { name } = partsOf(inner);
      if (!(name in PREDEFINED)) names.add(name);
    }
    return text;
  });
  return [...names];
}

/** Applies the change to every text of the server that other programs fill in, too. */
export function mapTexts<Config extends ServerConfig>(
  config: Config,
  change: (text: string) => string,
): Config {
  const all = (texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, change(text)]));
  if ('url' in config) return { ...config, url: change(config.url), headers: all(config.headers) };
  const { command, args, env, cwd } = config;
  return {
    ...config,
    command: change(command),
    args: args.map(change),
    env: all(env),
    ...(cwd !== undefined && { cwd: change(cwd) }),
  };
}

const VARIABLE = /\$\{([^}]*)\}/g;

function fill(text: string, { workspace, environment }: VariablePlace): string {
  return text.replaceAll(VARIABLE, (_, inner: string) => {
    const { name, standard } = partsOf(inner);
    const value = PREDEFINED[name]?.(workspace, environment['HOME'] ?? '') ?? environment[name];
    const filled = value === undefined || value === '' ? standard : value;
    if (filled !== undefined) return filled;
    throw new Error(`the variable ${name} is not set where the bridge was started`);
  });
}

/** `NAME`, `env:NAME` and `NAME:-default`. */
function partsOf(inner: string): { readonly name: string; readonly standard?: string } {
  const [, name = '', standard] = /^(?:env:)?(.*?)(?::-(.*))?$/s.exec(inner) ?? [];
  return { name, ...(standard !== undefined && { standard }) };
}

const PREDEFINED: Readonly<Record<string, (workspace: string, home: string) => string>> = {
  workspaceFolder: (workspace) => workspace,
  workspaceRoot: (workspace) => workspace,
  workspaceFolderBasename: (workspace) => basename(workspace),
  userHome: (_, home) => home,
  pathSeparator: () => sep,
  '/': () => sep,
};

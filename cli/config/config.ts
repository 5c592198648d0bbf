/** `drawbridge config`: shows and changes the settings in config.json. */
import type { Command } from 'commander';
import { configPath, noHome, readConfig, writeConfig } from '../../local/config/config-file.ts';
import {
  parseSettingPath,
  type SettingPath,
  withoutSetting,
  withTypedSetting,
} from '../../local/config/edit.ts';
import { readSettings, type SettingOrigin, type Settings } from '../../local/config/settings.ts';
import { sharedServerDir } from '../../local/state/folder.ts';
import { isClaimed } from '../../local/state/running.ts';
import { LocalError } from '../../machine/local-error.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { abortOnInterrupt } from '../terminal/ending.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { openTerminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { chooseModel } from './choose-model.ts';
import { editConfig } from './edit-command.ts';

export function registerConfig(program: Command): void {
  const group = program
    .command('config')
    .description('Show and change your settings: models, keys, default mode, server')
    .hook('postAction', async (_, command) => {
      if (CHANGING.has(command.name()) && process.exitCode === undefined) await tellOfServer();
    });
  group
    .command('get')
    .description('Print the settings in effect, or one of them')
    .argument('[key]', 'a setting such as model, server.port or models.0.id')
    .option('--origin', 'also print the source of each setting', false)
    .action(get);
  group
    .command('set')
    .description('Write a setting into config.json')
    .argument('<key>', 'a setting such as model, server.port or models.0.contextWindow')
    .argument('<value>', 'text, a number, true, false, or JSON')
    .action(set);
  group
    .command('unset')
    .description('Remove a setting from config.json')
    .argument('<key>', 'a setting such as model')
    .action(unset);
  group
    .command('edit')
    .description('Open config.json in $VISUAL or $EDITOR, and check it before it is saved')
    .action(() => editConfig(openTerminal(process, process.env), process.env));
  group
    .command('model')
    .description('Choose the model that answers: asks, and finds servers on this machine')
    .action(chooseAgain);
  group
    .command('path')
    .description('Print the path of config.json')
    .action(() => {
      openTerminal(process, process.env).writeOut(`${requirePath()}\n`);
    });
}

async function get(
  key: string | undefined,
  { origin }: { readonly origin: boolean },
): Promise<void> {
  const path = key === undefined ? [] : parseSettingPath(key);
  const { shown } = await readSettings();
  const found = key === undefined ? linesOfAll(shown, origin) : linesOfOne(shown, path, origin);
  if (found.length === 0) throw new LocalError('failed', `${key ?? 'Nothing'} is not set.`);
  openTerminal(process, process.env).writeOut(found.map((line) => `${line}\n`).join(''));
}

function linesOfAll(shown: Settings['shown'], withOrigin: boolean): string[] {
  return [...shown].map(
    ([name, { value, origin }]) => `${name} = ${toLine(value)}${originText(origin, withOrigin)}`,
  );
}

/** A single setting, a part of it, or a group such as `server`. */
function linesOfOne(shown: Settings['shown'], path: SettingPath, withOrigin: boolean): string[] {
  const lines: string[] = [];
  for (const [name, { value, origin }] of shown) {
    const words = name.split('.');
    const isGroup = path.length < words.length && path.every((word, at) => word === words[at]);
    if (isGroup) lines.push(`${name} = ${toLine(value)}${originText(origin, withOrigin)}`);
    if (path.length < words.length || !words.every((word, at) => word === path[at])) continue;
    const part = partOf(value, path.slice(words.length));
    if (part !== undefined) lines.push(`${toLine(part)}${originText(origin, withOrigin)}`);
  }
  return lines;
}

function partOf(value: unknown, path: SettingPath): unknown {
  let part = value;
  for (const key of path) {
    if (typeof part !== 'object' || part === null || !Object.hasOwn(part, key)) return undefined;
    part = Reflect.get(part, key);
  }
  return part;
}

function toLine(value: unknown): string {
  return inOneLine(typeof value === 'string' ? value : JSON.stringify(value));
}

function originText(origin: SettingOrigin, isWanted: boolean): string {
  if (!isWanted) return '';
  return `  (${origin.from === 'default' ? 'default' : `${origin.from}: ${inOneLine(origin.name)}`})`;
}

const CHANGING: ReadonlySet<string> = new Set(['set', 'unset', 'edit', 'model']);

/** A server reads config.json when it starts. */
async function tellOfServer(): Promise<void> {
  // Without a home folder there may be a config.json, but no server.
  const serverDir = await sharedServerDir().catch(() => undefined);
  if (serverDir === undefined || !isClaimed(serverDir)) return;
  const [stop, start] = [ownCommand('stop'), ownCommand('start')];
  openTerminal(process, process.env).write(
    `The running server keeps its old models and settings: \`${stop}\`, then \`${start}\`, applies the new ones.\n`,
  );
}

async function set(key: string, value: string): Promise<void> {
  const path = parseSettingPath(key);
  const { path: file, text } = await readConfig(process.env);
  writeConfig(file, withTypedSetting(text, path, value));
}

async function unset(key: string): Promise<void> {
  const path = parseSettingPath(key);
  const { path: file, text } = await readConfig(process.env);
  const isSet = text !== undefined && partOf(JSON.parse(text), path) !== undefined;
  if (!isSet) throw new LocalError('failed', `${key} is not set in config.json.`);
  writeConfig(file, withoutSetting(text, path));
}

async function chooseAgain(): Promise<void> {
  const terminal = openTerminal(process, process.env);
  if (!terminal.isInteractive) {
    const set = ownCommand('config', 'set', 'model', 'NAME');
    throw new UsageError(`There is no terminal to ask at: use \`${set}\`.`);
  }
  await chooseModel(terminal, process.env, abortOnInterrupt());
}

function requirePath(): string {
  const path = configPath(process.env);
  if (path === undefined) throw noHome();
  return path;
}

/** Asks a person which model answers, and keeps the choice in config.json. */
import { dirname } from 'node:path';
import { type ConfigFile, readConfig, writeConfig } from '../../local/config/config-file.ts';
import { type FoundServer, findModelServers, listModelsAt } from '../../local/config/discover.ts';
import { withoutSetting, withSetting } from '../../local/config/edit.ts';
import { Config, DEMO, type KeyReference } from '../../local/config/schema.ts';
import { LocalError } from '../../machine/local-error.ts';
import { ModelDialect, PROVIDERS } from '../../shared/settings/dialects.ts';
import { inOneLine, nameInLine } from '../../shared/text/plain-sight.ts';
import { CLI_LIMITS } from '../limits.ts';
import { describeFailure } from '../terminal/failure-text.ts';
import { Interrupted } from '../terminal/interrupted.ts';
import { ownCommand } from '../terminal/own-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The settings that name a model; those that are absent are removed. */
type ModelChoice = Pick<Config, 'baseUrl' | 'key' | 'model' | 'models'>;

/** One line of the menu. `choose` resolves to undefined when the person ends the input. */
interface MenuEntry {
  readonly name: string;
  readonly detail: string;
  choose(): Promise<ModelChoice | undefined>;
}

/** Asks nothing without a terminal. Otherwise resolves once the choice is kept, or the person ends the input. */
export async function chooseModel(
  terminal: Terminal,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  find = findModelServers,
): Promise<void> {
  if (!terminal.isInteractive) return;
  await readChangeable(env);
  const left = new AbortController();
  // At the question Ctrl-C ends the command, and is no answer.
  const stop = terminal.onSignal(() => left.abort());
  try {
    const ending = AbortSignal.any([signal, left.signal]);
    const servers = await find(ending);
    const ask = (question: string) => terminal.ask(question, ending);
    const choice = await chooseFrom(menuOf({ terminal, ask, env, ending }, servers), terminal, ask);
    ending.throwIfAborted();
    if (!choice) return;
    // Anew: the person may have changed the file before the answer.
    const { path, text } = await readChangeable(env);
    keep(terminal, path, withChoice(text, choice));
  } catch (error) {
    if (left.signal.aborted) throw new Interrupted();
    throw error;
  } finally {
    stop();
  }
}

/** @throws {LocalError} for a table of models, which is more than a choice, and as `readConfig`. */
async function readChangeable(env: NodeJS.ProcessEnv): Promise<ConfigFile> {
  const file = await readConfig(env);
  if (!file.config.models) return file;
  const edit = ownCommand('config', 'edit');
  throw new LocalError('refused', `config.json has a table of models: \`${edit}\` changes it.`);
}

interface ModelMenu {
  readonly terminal: Terminal;
  readonly ask: (question: string) => Promise<string | undefined>;
  readonly env: NodeJS.ProcessEnv;
  readonly ending: AbortSignal;
}

function menuOf(asking: ModelMenu, servers: readonly FoundServer[]): MenuEntry[] {
  const { env } = asking;
  const entries = servers.flatMap(entriesOf);
  if (env['OPENAI_API_KEY']) {
    const choose = async () => {
      const model = await askWord(asking, 'Model at OpenAI', 'gpt-5.2');
      return model ? { key: { env: 'OPENAI_API_KEY' }, model } : undefined;
    };
    entries.push({ name: 'OpenAI', detail: 'with the key in OPENAI_API_KEY', choose });
  }
  for (const dialect of ModelDialect.options) {
    const provider = PROVIDERS[dialect];
    if (provider.settings !== null || !env[provider.keyName]) continue;
    const { title, keyName, exampleModel } = provider;
    const choose = async () => {
      const id = await askWord(asking, `Model at ${title}`, exampleModel);
      const models = [{ id, dialect, key: { env: keyName } }];
      return id ? { models: Config.shape.models.parse(models) } : undefined;
    };
    entries.push({ name: title, detail: `with the key in ${keyName}`, choose });
  }
  entries.push({
    name: 'another server',
    detail: 'OpenAI-compatible, by its URL',
    choose: () => askServer(asking),
  });
  const choose = async () => ({ model: DEMO });
  entries.push({
    name: 'the built-in demo',
    detail: 'no language model; it needs nothing',
    choose,
  });
  return entries;
}

function entriesOf({ name, baseUrl, models }: FoundServer): MenuEntry[] {
  return models.slice(0, CLI_LIMITS.maxOfferedModels).map((model) => ({
    name: model,
    detail: `${name} on this machine`,
    choose: async () => ({ baseUrl, model }),
  }));
}

async function chooseFrom(
  entries: readonly MenuEntry[],
  { write }: Terminal,
  ask: ModelMenu['ask'],
): Promise<ModelChoice | undefined> {
  const width = Math.max(...entries.map(({ name }) => inOneLine(name).length));
  const lines = entries.map(({ name, detail }, index) => {
    const number = String(index + 1).padStart(3);
    return `${number}  ${inOneLine(name).padEnd(width)}  ${detail}\n`;
  });
  write(`Which model should answer?\n\n${lines.join('')}\n`);
  for (;;) {
    const answer = await ask(`Number (Enter for 1): `);
    if (answer === undefined) return undefined;
    const entry = entries[Number(answer.trim() || 1) - 1];
    if (entry) return await entry.choose();
    write(`Give a number from 1 to ${entries.length}.\n`);
  }
}

async function askServer(asking: ModelMenu): Promise<ModelChoice | undefined> {
  const baseUrl = await askRight(asking, 'URL (such as http://127.0.0.1:8000/v1): ', parseUrl);
  if (baseUrl === undefined) return undefined;
  const models = await listModelsAt(baseUrl, asking.ending);
  const shown = models.slice(0, CLI_LIMITS.maxOfferedModels).map(inOneLine).join(', ');
  if (shown !== '') asking.terminal.write(`It has ${shown}.\n`);
  const model = await askWord(asking, 'Model', models[0]);
  if (model === undefined) return undefined;
  const key = await askRight(asking, 'Variable that has its key (Enter for none): ', parseVariable);
  return key === undefined ? undefined : { baseUrl, model, ...(key && { key }) };
}

/** A name; Enter takes the usual one. */
async function askWord(
  asking: ModelMenu,
  what: string,
  usual: string | undefined,
): Promise<string | undefined> {
  const hint = usual === undefined ? '' : ` (Enter for ${inOneLine(usual)})`;
  return await askRight(asking, `${what}${hint}: `, (text) => {
    const name = text || (usual ?? '');
    return Config.shape.model.safeParse(name).success
      ? name
      : new Error('Give the name of a model.');
  });
}

/** Asks again until the answer is right. */
async function askRight<Value>(
  { ask, terminal }: ModelMenu,
  question: string,
  parse: (text: string) => Value | Error,
): Promise<Value | undefined> {
  for (;;) {
    const answer = await ask(question);
    if (answer === undefined) return undefined;
    const value = parse(answer.trim());
    if (!(value instanceof Error)) return value;
    terminal.write(`${value.message}\n`);
  }
}

function parseUrl(text: string): string | Error {
  const { error } = Config.shape.baseUrl.safeParse(text);
  return error ? new Error(`The URL ${error.issues[0]?.message}.`) : text;
}

/** Null for none. */
function parseVariable(text: string): KeyReference | null | Error {
  if (text === '') return null;
  if (/^[A-Za-z_]\w*$/.test(text)) return { env: text };
  return new Error('Give the name of a variable, not the key: config.json never has a key.');
}

const MODEL_SETTINGS = ['baseUrl', 'key', 'model', 'models'] as const;

function withChoice(text: string | undefined, choice: ModelChoice): string {
  let changed = text;
  for (const name of MODEL_SETTINGS) {
    const value = choice[name];
    changed =
      value === undefined ? withoutSetting(changed, [name]) : withSetting(changed, [name], value);
  }
  return changed ?? '';
}

/** A disk that takes nothing must not keep the server from starting. */
function keep(terminal: Terminal, path: string | undefined, text: string): void {
  try {
    writeConfig(path, text);
    const again = ownCommand('config', 'model');
    terminal.write(`Kept in ${nameInLine(path ?? '')}. \`${again}\` asks again.\n`);
  } catch (error) {
    const isExpected =
      error instanceof LocalError || (error instanceof Error && 'syscall' in error);
    if (!isExpected) throw error;
    const place = path === undefined ? '' : ` in ${nameInLine(dirname(path))}`;
    terminal.write(`The choice cannot be kept${place}: ${describeFailure(error)}\n`);
  }
}

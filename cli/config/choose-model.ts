/** Asks a person which model answers, and keeps the choice in config.json. */
import { dirname, join } from 'node:path';
import { type ConfigFile, readConfig, writeConfig } from '../../local/config/config-file.ts';
import {
  type FoundServer,
  findModelServers,
  listModelsAt,
  type ModelListing,
} from '../../local/config/discover.ts';
import { withoutSetting, withSetting } from '../../local/config/edit.ts';
import { Config, DEMO, type KeyReference } from '../../local/config/schema.ts';
import { LocalError } from '../../machine/local-error.ts';
import { makePrivateFolders, replaceFile } from '../../machine/private-files.ts';
import { PROVIDERS } from '../../shared/settings/dialects.ts';
import { inOneLine, nameInLine } from '../../shared/text/plain-sight.ts';
import { CLI_LIMITS } from '../limits.ts';
import { describeFailure } from '../terminal/failure-text.ts';
import { Interrupted } from '../terminal/interrupted.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { foldedAt } from '../terminal/short-line.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { OFFERED, type OfferedProvider, type ProviderSettings } from './providers.ts';

/** What the person chose. A `secret` is a key to keep beside config.json. */
type ModelChoice = ProviderSettings & { readonly secret?: KeptSecret };

interface KeptSecret {
  readonly file: string;
  readonly value: string;
}

/** One line of the menu. `choose` resolves to undefined when the person ends the input. */
interface MenuEntry {
  readonly name: string;
  readonly detail: string;
  choose(): Promise<ModelChoice | undefined>;
}

/** How servers are asked; tests have others. */
interface ModelServers {
  readonly find: typeof findModelServers;
  readonly list: typeof listModelsAt;
}

/** Asks nothing without a terminal. Otherwise resolves once the choice is kept, or the person ends the input. */
export async function chooseModel(
  terminal: Terminal,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  { find = findModelServers, list = listModelsAt }: Partial<ModelServers> = {},
): Promise<void> {
  if (!terminal.isInteractive) return;
  const { path } = await readChangeable(env);
  const left = new AbortController();
  // At the question Ctrl-C ends the command, and is no answer.
  const stop = terminal.onSignal(() => left.abort());
  try {
    const ending = AbortSignal.any([signal, left.signal]);
    const servers = await find(ending);
    const ask = (question: string) => terminal.ask(question, ending);
    const asking = { terminal, ask, env, ending, path, list };
    const choice = await chooseFrom(menuOf(asking, servers), terminal, asking);
    ending.throwIfAborted();
    if (!choice) return;
    // Anew: the person may have changed the file before the answer.
    const file = await readChangeable(env);
    const { secret, ...settings } = choice;
    await keep(terminal, file.path, withChoice(file.text, settings), secret);
  } catch (error) {
    if (left.signal.aborted) throw new Interrupted();
    throw error;
  } finally {
    stop();
  }
}

/** @throws {LocalError} for a table of several models, which is more than a choice, and as `readConfig`. */
async function readChangeable(env: NodeJS.ProcessEnv): Promise<ConfigFile> {
  const file = await readConfig(env);
  if ((file.config.models ?? []).length <= 1) return file;
  const edit = ownCommand('config', 'edit');
  throw new LocalError('refused', `config.json has a table of models: \`${edit}\` changes it.`);
}

interface ModelMenu extends Pick<ModelServers, 'list'> {
  readonly terminal: Terminal;
  readonly ask: (question: string) => Promise<string | undefined>;
  readonly env: NodeJS.ProcessEnv;
  /** Of config.json; undefined without a home folder. */
  readonly path: string | undefined;
  readonly ending: AbortSignal;
}

function menuOf(asking: ModelMenu, servers: readonly FoundServer[]): MenuEntry[] {
  const { env } = asking;
  const known = servers.flatMap(entriesOf);
  const others: MenuEntry[] = [];
  for (const provider of OFFERED) {
    const { title, keyName, detail } = provider;
    const hasKey = Boolean(env[keyName]);
    (hasKey ? known : others).push({
      name: title,
      detail: hasKey ? `with the key in ${keyName}` : detail,
      choose: () => askProvider(asking, provider),
    });
  }
  others.push({
    name: 'another server',
    detail: 'Ollama, LM Studio, vLLM and others, by its address',
    choose: () => askServer(asking),
  });
  const demo: MenuEntry = {
    name: 'the built-in demo',
    detail: 'no language model; it needs nothing',
    choose: async () => ({ model: DEMO }),
  };
  // What Enter takes works: what was found here, else the demo.
  return known.length > 0 ? [...known, ...others, demo] : [demo, ...others];
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
  { write, pick }: Terminal,
  { ask, ending }: Pick<ModelMenu, 'ask' | 'ending'>,
): Promise<ModelChoice | undefined> {
  const width = Math.max(...entries.map(({ name }) => inOneLine(name).length));
  const labels = entries.map(
    ({ name, detail }) => `${inOneLine(name).padEnd(width)}  ${inOneLine(detail)}`,
  );
  if (pick) {
    write('Which model should answer? (arrows, then Enter)\n\n');
    const index = await pick(labels, ending);
    return index === undefined ? undefined : await entries[index]?.choose();
  }
  const lines = labels.map((label, index) => `${String(index + 1).padStart(3)}  ${label}\n`);
  write(`Which model should answer?\n\n${lines.join('')}\n`);
  for (;;) {
    const answer = await ask(`Number (Enter for 1): `);
    if (answer === undefined) return undefined;
    const entry = entries[Number(answer.trim() || 1) - 1];
    if (entry) return await entry.choose();
    write(`Give a number from 1 to ${entries.length}.\n`);
  }
}

async function askProvider(
  asking: ModelMenu,
  provider: OfferedProvider,
): Promise<ModelChoice | undefined> {
  const { title, exampleModel } = provider;
  for (;;) {
    const key = await askKey(asking, provider);
    if (!key) return undefined;
    const listing = await asking.list(provider.baseUrl, asking.ending, provider.headers(key.value));
    sayListing(asking.terminal, title, listing);
    if (listing.outcome === 'refused' && key.typed !== undefined) continue;
    const models = listing.outcome === 'listed' ? listing.models : [exampleModel];
    const usual = models.includes(exampleModel) ? exampleModel : models[0];
    const model = await askWord(asking, `Model at ${title}`, usual);
    if (model === undefined) return undefined;
    const choice = provider.choice(model, key.reference);
    return key.typed === undefined ? choice : { ...choice, secret: key.typed };
  }
}

interface GivenKey {
  readonly reference: KeyReference;
  readonly value: string;
  /** A key that the person typed, which is still to be kept. */
  readonly typed?: KeptSecret;
}

/** Null for none, which an optional key may be. */
async function askKey(
  asking: ModelMenu,
  { title, keyName, name }: Pick<OfferedProvider, 'title' | 'name'> & { readonly keyName?: string },
): Promise<GivenKey | null | undefined> {
  const { env, terminal, path } = asking;
  const isOptional = keyName === undefined;
  const ofVariable = (variable: string) => {
    const value = env[variable];
    return value ? { reference: { env: variable }, value } : undefined;
  };
  const known = isOptional ? undefined : ofVariable(keyName);
  if (known) return known;
  const file = path && join(dirname(path), 'keys', name);
  const where =
    file === undefined ? '' : `, to be stored in ${nameInLine(file)}, which only you can read`;
  const how = `Paste your key for ${title}${where}, or name a variable that has it.`;
  terminal.write(`${foldedAt(how, terminal.columns)}\n`);
  const question = `Key for ${title} (not shown${isOptional ? '; Enter for none' : ''}): `;
  return await askRight<GivenKey | null>(
    { ...asking, ask: (words) => terminal.ask(words, asking.ending, { hidden: true }) },
    question,
    async (text) => {
      if (isOptional && text === '') return null;
      const isName = VARIABLE.test(text);
      const named = isName ? ofVariable(text) : undefined;
      if (named) return named;
      if (!KEY.test(text)) return new Error(NO_KEY);
      if (file === undefined) return new Error('There is no home folder to keep a key in.');
      // What was typed unseen may be a key, so no message repeats it.
      if (isName && !/^\s*y(?:es)?\s*$/i.test((await asking.ask(IS_KEY)) ?? ''))
        return new Error('Give the key, or the name of a variable that is set here.');
      return { reference: { file: `keys/${name}` }, value: text, typed: { file, value: text } };
    },
  );
}

const VARIABLE = /^[A-Z_][A-Z0-9_]*$/;
const IS_KEY = 'No variable of this name is set here. Is it the key itself? y or n: ';

const NO_KEY =
  'A key is one word of at least 8 characters, and no variable of this name is set here.';

/** What can be a key: printable characters of ASCII, as in a header of HTTP. */
const KEY = /^[!-~]{8,4096}$/;

/** Says what is wrong with a server; nothing where it lists its models. */
function sayListing({ write, paint }: Terminal, name: string, listing: ModelListing): void {
  if (listing.outcome === 'listed') return;
  const words = {
    refused: `${name} refuses this key`,
    unreachable: `${name} cannot be reached at the moment`,
    unlisted: `${name} answers, but lists no models`,
  }[listing.outcome];
  write(`${paint('yellow', `${words} (${inOneLine(listing.why)}).`)}\n`);
}

async function askServer(asking: ModelMenu): Promise<ModelChoice | undefined> {
  const urls = await askRight(asking, 'Address (such as 127.0.0.1:8000): ', parseAddress);
  if (urls === undefined) return undefined;
  const name = new URL(urls[0]).host.replaceAll(/[^\w.-]/g, '_');
  for (;;) {
    const key = await askKey(asking, { title: 'this server', name });
    if (key === undefined) return undefined;
    const { baseUrl, listing } = await findApi(asking, urls, key);
    sayListing(asking.terminal, 'The server', listing);
    if (listing.outcome === 'refused') continue;
    return await askModel(asking, baseUrl, key, listing);
  }
}

/** Servers have the API below `/v1`, or at the address itself: the first that lists models, else the first. */
async function findApi(
  { list, ending }: ModelMenu,
  urls: Addresses,
  key: GivenKey | null,
): Promise<{ readonly baseUrl: string; readonly listing: ModelListing }> {
  const headers = key === null ? undefined : PROVIDERS.chat.headers(key.value);
  const [baseUrl, other] = urls;
  const listing = await list(baseUrl, ending, headers);
  if (listing.outcome !== 'unlisted' || other === undefined) return { baseUrl, listing };
  const otherListing = await list(other, ending, headers);
  return otherListing.outcome === 'listed'
    ? { baseUrl: other, listing: otherListing }
    : { baseUrl, listing };
}

async function askModel(
  asking: ModelMenu,
  baseUrl: string,
  key: GivenKey | null,
  listing: ModelListing,
): Promise<ModelChoice | undefined> {
  const models = listing.outcome === 'listed' ? listing.models : [];
  const shown = models.slice(0, CLI_LIMITS.maxOfferedModels).map(inOneLine).join(', ');
  if (shown !== '') asking.terminal.write(`It has ${shown}.\n`);
  const model = await askWord(asking, 'Model', models[0]);
  if (model === undefined) return undefined;
  return {
    baseUrl,
    model,
    ...(key && { key: key.reference }),
    ...(key?.typed && { secret: key.typed }),
  };
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
  parse: (text: string) => Value | Error | Promise<Value | Error>,
): Promise<Value | undefined> {
  for (;;) {
    const answer = await ask(question);
    if (answer === undefined) return undefined;
    const value = await parse(answer.trim());
    if (!(value instanceof Error)) return value;
    terminal.write(`${value.message}\n`);
  }
}

/** Where the API can be, the likely place first. */
type Addresses = readonly [string, ...string[]];

/** An address without a scheme is that of a machine nearby if it is an IP address or has a port. */
function parseAddress(text: string): Addresses | Error {
  const isNear = /^(?:localhost\b|\[|[\d.]+(?:[:/]|$)|[^/]*:\d)/i.test(text);
  const url = /^[a-z][\w+.-]*:\/\//i.test(text) ? text : `${isNear ? 'http' : 'https'}://${text}`;
  const { error } = Config.shape.baseUrl.safeParse(url);
  if (error || text === '') return new Error(`The URL ${error?.issues[0]?.message ?? 'is empty'}.`);
  const hasPath = new URL(url).pathname !== '/';
  const bare = url.replace(/\/+$/, '');
  return hasPath ? [bare] : [`${bare}/v1`, bare];
}

const MODEL_SETTINGS = ['baseUrl', 'key', 'model', 'models'] as const;

function withChoice(text: string | undefined, choice: ProviderSettings): string {
  let changed = text;
  for (const name of MODEL_SETTINGS) {
    const value = choice[name];
    changed =
      value === undefined ? withoutSetting(changed, [name]) : withSetting(changed, [name], value);
  }
  return changed ?? '';
}

/** A disk that takes nothing must not keep the server from starting. */
async function keep(
  terminal: Terminal,
  path: string | undefined,
  text: string,
  secret: KeptSecret | undefined,
): Promise<void> {
  try {
    if (secret) {
      makePrivateFolders(dirname(secret.file));
      replaceFile(secret.file, `${secret.value}\n`);
    }
    writeConfig(path, text);
    const again = ownCommand('config', 'model');
    const kept = `Kept in ${nameInLine(path ?? '')}. \`${again}\` asks again.`;
    terminal.write(`${foldedAt(kept, terminal.columns)}\n`);
  } catch (error) {
    const isExpected =
      error instanceof LocalError || (error instanceof Error && 'syscall' in error);
    if (!isExpected) throw error;
    const place = path === undefined ? '' : ` in ${nameInLine(dirname(path))}`;
    terminal.write(`The choice cannot be kept${place}: ${describeFailure(error)}\n`);
  }
}

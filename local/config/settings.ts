/** The one place that says which setting holds: an option over the environment, over config.json, over the default. */
import { dirname } from 'node:path';
import { LocalError } from '../../machine/local-error.ts';
import { parseJson } from '../../shared/text/json.ts';
import { ModeName } from '../../shared/wire/definitions.ts';
import type { Mode } from '../../shared/wire/modes.ts';
import { Preset } from '../../shared/wire/preset.ts';
import { type ModelSettings, readModelSettings, readWorkerSettings } from '../settings.ts';
import { type ConfigFile, readConfig } from './config-file.ts';
import { type NeededKey, openKey } from './keys.ts';
import {
  type Config,
  choosesDemo,
  embedderOf,
  type KeyReference,
  keyVariable,
  toModelTable,
  type WebSearch,
} from './schema.ts';

/** Options of the command line that are settings too. */
export interface Flags {
  readonly port?: number | undefined;
  readonly mode?: string | undefined;
  readonly preset?: Preset | undefined;
}

/** Where a value comes from. `name` is the option, the variable or the path of the file. */
export type SettingOrigin =
  | { readonly from: 'option' | 'environment' | 'file'; readonly name: string }
  | { readonly from: 'default' };

/** Every setting of config.json by its dotted name. */
export type SettingName =
  | Exclude<keyof Config, '$schema' | 'server' | 'webSearch'>
  | `webSearch.${keyof WebSearch}`
  | `server.${keyof NonNullable<Config['server']>}`;

export interface Settings {
  readonly port: number;
  /** The mode of a chat that names none. */
  readonly mode: string;
  /** The preset of a project without a preset of its own. */
  readonly preset: Preset;
  readonly devicesMayAllowAlways: boolean;
  readonly devicesNeedPasskey: boolean;
  /** The service of the tool web_search. Its key is read when the bridge searches. */
  readonly codeInPrompt: readonly Mode[];
  readonly webSearch: OpenableSearch | undefined;
  /** The model that makes vectors for the index. Its key is read when the bridge first asks it. */
  readonly embedding: OpenableEmbedder | undefined;
  /** Whether a person or a file has said which model answers. */
  readonly isModelChosen: boolean;
  /** Every setting that is set or has a default: what `config get` shows. Keys are references. */
  readonly shown: ReadonlyMap<
    SettingName,
    { readonly value: unknown; readonly origin: SettingOrigin }
  >;
  /** The names of the variables that config.json refers to for keys. No bridge and no command gets them. */
  readonly keyNames: readonly string[];
  /** What {@link openServerSettings} works on. */
  readonly source: { readonly env: NodeJS.ProcessEnv; readonly file: ConfigFile };
}

/** What a server is started with. */
export interface ServerSettings {
  readonly model: ModelSettings;
  readonly workerSettings: Readonly<Record<string, string>>;
}

const DEFAULTS = {
  codeInPrompt: ['agent', 'plan', 'ask'],
  port: 8787,
  mode: 'agent',
  preset: 'workspace',
} as const;

/** Reads file and environment; no command runs, no key is read. @throws {LocalError} if something is not right. */
export async function readSettings(
  env: NodeJS.ProcessEnv = process.env,
  flags: Flags = {},
): Promise<Settings> {
  const file = await readConfig(env);
  const shown = new Map<SettingName, { value: unknown; origin: SettingOrigin }>();
  for (const row of ROWS) {
    const found = find(row, env, flags, file);
    if (found) shown.set(row.name, found);
  }
  // The schema, `parse` of the row or commander has checked each value.
  const checked = <Value>(name: SettingName) => shown.get(name)?.value as Value;
  return {
    port: checked('server.port'),
    mode: checked('mode'),
    preset: checked('preset'),
    codeInPrompt: checked('codeInPrompt'),
    devicesMayAllowAlways: checked('devicesMayAllowAlways'),
    devicesNeedPasskey: checked('devicesNeedPasskey'),
    webSearch: searchOf(file, env),
    embedding: embeddingOf(file, env),
    isModelChosen: shown.has('model') || shown.has('models') || shown.has('baseUrl'),
    shown,
    keyNames: referencedVariables(file.config),
    source: { env, file },
  };
}

/** What a bridge gets of the owner's settings. */
export function ownersOf(settings: Settings) {
  const { preset, webSearch, embedding, codeInPrompt } = settings;
  const { devicesMayAllowAlways, devicesNeedPasskey } = settings;
  const devices = { devicesMayAllowAlways, devicesNeedPasskey };
  return { preset, webSearch, embedding, codeInPrompt, ...devices };
}

/** A search service with the way to its key. */
export interface OpenableSearch extends Pick<WebSearch, 'shape' | 'url'> {
  readonly readKey?: (signal: AbortSignal) => Promise<string>;
}

/** A model that makes vectors, with the way to its key. */
export interface OpenableEmbedder {
  readonly baseUrl: string;
  readonly model: string;
  readonly isPrivate: boolean;
  readonly readKey?: (signal: AbortSignal) => Promise<string>;
}

function embeddingOf(
  { path, config }: ConfigFile,
  env: NodeJS.ProcessEnv,
): OpenableEmbedder | undefined {
  const found = embedderOf(config);
  if (!found) return undefined;
  const { baseUrl, model, isPrivate, key: reference, place } = found;
  const service = { baseUrl, model, isPrivate };
  return reference ? { ...service, readKey: opener({ path, reference, place, env }) } : service;
}

/** A key that the bridge reads, once it needs it. */
function opener({
  path,
  ...request
}: Pick<NeededKey, 'reference' | 'place' | 'env'> & Pick<ConfigFile, 'path'>) {
  const folder = dirname(path ?? '/');
  return (signal: AbortSignal) => openKey({ ...request, folder, onWarning: () => {} }, signal);
}

function searchOf(
  { path, config }: ConfigFile,
  env: NodeJS.ProcessEnv,
): OpenableSearch | undefined {
  if (!config.webSearch) return undefined;
  const { shape, url, key: reference } = config.webSearch;
  if (!reference) return { shape, url };
  return { shape, url, readKey: opener({ path, reference, place: 'webSearch.key', env }) };
}

/** A setting, and where else than in the file it may stand. */
interface SettingRow {
  readonly name: SettingName;
  readonly flag?: keyof Flags;
  /** Empty for a setting of the file alone. */
  readonly variable: string;
  readonly fallback?: unknown;
  /** The variable's text as the setting's value. @throws {LocalError} if it is none. */
  parse(text: string): unknown;
}

const ROWS: readonly SettingRow[] = [
  { name: 'model', variable: 'OPENAI_MODEL', parse: asIs },
  { name: 'baseUrl', variable: 'OPENAI_BASE_URL', parse: withoutPassword },
  { name: 'key', variable: 'OPENAI_API_KEY', parse: () => ({ env: 'OPENAI_API_KEY' }) },
  { name: 'models', variable: 'MODELS', parse: asJson },
  {
    name: 'mode',
    flag: 'mode',
    variable: 'DRAWBRIDGE_MODE',
    fallback: DEFAULTS.mode,
    parse: (text) => oneOf('DRAWBRIDGE_MODE', ModeName.safeParse(text).data, 'a mode such as plan'),
  },
  {
    name: 'preset',
    flag: 'preset',
    variable: 'DRAWBRIDGE_PRESET',
    fallback: DEFAULTS.preset,
    parse: (text) =>
      oneOf('DRAWBRIDGE_PRESET', Preset.safeParse(text).data, Preset.options.join(', ')),
  },
  {
    name: 'server.port',
    flag: 'port',
    variable: 'DRAWBRIDGE_PORT',
    fallback: DEFAULTS.port,
    parse: (text) => oneOf('DRAWBRIDGE_PORT', toPort(text), 'a number from 0 to 65535'),
  },
  { name: 'codeInPrompt', variable: '', fallback: DEFAULTS.codeInPrompt, parse: asIs },
  { name: 'devicesMayAllowAlways', variable: '', fallback: false, parse: asIs },
  { name: 'devicesNeedPasskey', variable: '', fallback: false, parse: asIs },
  { name: 'webSearch.shape', variable: '', parse: asIs },
  { name: 'webSearch.url', variable: '', parse: asIs },
  { name: 'webSearch.key', variable: '', parse: asIs },
  { name: 'server.allowedOrigins', variable: 'ALLOWED_ORIGINS', parse: asList },
  { name: 'server.webhookOrigins', variable: 'WEBHOOK_ORIGINS', parse: asList },
  { name: 'server.textOnlyModels', variable: 'TEXT_ONLY_MODELS', parse: asList },
  { name: 'server.privateModels', variable: 'PRIVATE_MODELS', parse: asList },
  { name: 'server.deleteAfterHours', variable: 'DELETE_AFTER_HOURS', parse: Number },
  { name: 'server.maxTurns', variable: 'MAX_TURNS', parse: Number },
  { name: 'server.requestsPerMinute', variable: 'RATE_LIMIT_REQUESTS_PER_MINUTE', parse: Number },
  { name: 'server.runsPerMinute', variable: 'RATE_LIMIT_RUNS_PER_MINUTE', parse: Number },
  { name: 'server.promptBlocks', variable: 'PROMPT_BLOCKS', parse: asJson },
];

function find(row: SettingRow, env: NodeJS.ProcessEnv, flags: Flags, file: ConfigFile) {
  const option = row.flag && flags[row.flag];
  if (option !== undefined) {
    return { value: option, origin: { from: 'option', name: `--${row.flag}` } as const };
  }
  const text = usableVariables(env, file.config)[row.variable];
  if (text) {
    return { value: row.parse(text), origin: { from: 'environment', name: row.variable } as const };
  }
  const value = isReplaced(row.name, env) ? undefined : valueAt(file.config, row.name);
  if (value !== undefined) {
    return { value, origin: { from: 'file', name: file.path ?? '' } as const };
  }
  return row.fallback === undefined
    ? undefined
    : { value: row.fallback, origin: { from: 'default' } as const };
}

function valueAt(config: Config, name: SettingName): unknown {
  const [first = '', second] = name.split('.');
  const value: unknown = Reflect.get(config, first);
  return second === undefined ? value : Reflect.get(Object(value), second);
}

/** A server, its key and the names of its models belong together: the environment replaces all or none of them. */
function isReplaced(name: SettingName, env: NodeJS.ProcessEnv): boolean {
  return Boolean(env['MODELS'] || env['OPENAI_BASE_URL']) && MODEL_SETTINGS.has(name);
}

const MODEL_SETTINGS: ReadonlySet<SettingName> = new Set(['model', 'baseUrl', 'key', 'models']);

/** OPENAI_API_KEY is a key for OpenAI: it goes neither to a `baseUrl` of the file, nor does it replace a chosen demo. */
function usableVariables(env: NodeJS.ProcessEnv, config: Config): NodeJS.ProcessEnv {
  if (isReplaced('key', env)) return env;
  const model = env['OPENAI_MODEL'] || config.model;
  const isElsewhere = config.baseUrl !== undefined || choosesDemo({ ...config, model });
  return isElsewhere ? { ...env, OPENAI_API_KEY: undefined } : env;
}

/** A server's settings with its keys: runs commands that config.json names. @throws {LocalError} if it cannot. */
export async function openServerSettings(
  { source: { env, file } }: Settings,
  onWarning: (line: string) => void,
  signal: AbortSignal,
): Promise<ServerSettings> {
  const keys = isReplaced('key', env) ? {} : await openKeys(env, file, onWarning, signal);
  const variables = { ...env, ...variablesOf(env, file.config), ...keys };
  return { model: readModelSettings(variables), workerSettings: readWorkerSettings(variables) };
}

/** Whether {@link openServerSettings} may run commands, which can ask the person at the terminal. */
export function runsKeyCommands({ source: { file } }: Settings): boolean {
  const { key, models = [] } = file.config;
  return [key, ...models.map((model) => model.key)].some((each) => each && 'command' in each);
}

/** The keys of the file by the Worker's variables. One after the other: each command may have a question. */
async function openKeys(
  env: NodeJS.ProcessEnv,
  { path, config }: ConfigFile,
  onWarning: (line: string) => void,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const request = { folder: dirname(path ?? '/'), env, onWarning };
  const opened: Record<string, string> = {};
  if (config.key && !usableVariables(env, config)['OPENAI_API_KEY']) {
    const key = { ...request, reference: config.key, place: 'key' };
    opened['OPENAI_API_KEY'] = await openKey(key, signal);
  }
  for (const [index, { key: reference }] of (config.models ?? []).entries()) {
    if (!reference) continue;
    const key = { ...request, reference, place: `models[${index}].key` };
    opened[keyVariable(index)] = await openKey(key, signal);
  }
  return opened;
}

/** The file's settings in the form of the environment, where the environment does not replace them. */
function variablesOf(env: NodeJS.ProcessEnv, config: Config): NodeJS.ProcessEnv {
  const { server = {}, model, baseUrl, models } = config;
  const own: NodeJS.ProcessEnv = {
    ALLOWED_ORIGINS: server.allowedOrigins?.join(','),
    WEBHOOK_ORIGINS: server.webhookOrigins?.join(','),
    TEXT_ONLY_MODELS: server.textOnlyModels?.join(','),
    PRIVATE_MODELS: server.privateModels?.join(','),
    DELETE_AFTER_HOURS: server.deleteAfterHours?.toString(),
    MAX_TURNS: server.maxTurns?.toString(),
    RATE_LIMIT_REQUESTS_PER_MINUTE: server.requestsPerMinute?.toString(),
    RATE_LIMIT_RUNS_PER_MINUTE: server.runsPerMinute?.toString(),
    PROMPT_BLOCKS: server.promptBlocks && JSON.stringify(server.promptBlocks),
    ...(!isReplaced('model', env) && {
      MODELS: models && JSON.stringify(toModelTable(models)),
      OPENAI_BASE_URL: baseUrl,
      OPENAI_MODEL: model,
    }),
  };
  const unset = Object.entries(own).filter(([name, value]) => value !== undefined && !env[name]);
  const { OPENAI_API_KEY } = usableVariables(env, config);
  const asked = env['OPENAI_MODEL'] || config.model;
  const isDemo = choosesDemo({ ...config, model: asked }) && !isReplaced('model', env);
  return {
    ...Object.fromEntries(unset),
    OPENAI_API_KEY,
    ...(isDemo && { OPENAI_MODEL: undefined }),
  };
}

function referencedVariables({ key, models = [] }: Config): string[] {
  const references: (KeyReference | undefined)[] = [key, ...models.map((model) => model.key)];
  return references.flatMap((reference) => (reference && 'env' in reference ? reference.env : []));
}

function asIs(text: string): string {
  return text;
}

function asList(text: string): string[] {
  return text.split(',').map((word) => word.trim());
}

/** Only to show it: the Worker's reader of the variable checks it. */
function asJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

function withoutPassword(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (url.username === '' && url.password === '' && url.search === '') return text;
  return `${url.origin}${url.pathname} (and more, which is not shown)`;
}

function toPort(text: string): number | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;
}

function oneOf<Value>(variable: string, value: Value | undefined, wanted: string): Value {
  if (value !== undefined) return value;
  throw new LocalError('refused', `The variable ${variable} must be ${wanted}.`);
}

/** Finds the server that answers for a model: from the table, the configured OpenAI-compatible one, or the demo. */

import type { ModelInfo, ModelList } from '../../shared/api/listings.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { type ModelDialect, serverOf } from '../../shared/settings/dialects.ts';
import {
  chats,
  ModelEntry,
  type ModelPrices,
  type ModelRole,
  type ModelSwitches,
  type ModelTable,
  parseModelTable,
} from '../../shared/settings/models.ts';
import { DEMO_MODEL } from './demo/wire.ts';
import { secretsInUrl } from './secrets.ts';

/** A model and the settings needed to ask it. */
export type ModelTarget = ServerTarget | DemoTarget;

interface DemoTarget {
  readonly kind: 'demo';
  readonly takesImages: false;
  readonly contextWindow: undefined;
  readonly maxOutputTokens: undefined;
}

export interface ServerTarget {
  readonly kind: 'server';
  readonly dialect: ModelDialect;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** The model's name at the server. */
  readonly upstreamId: string;
  readonly takesImages: boolean;
  /** Tokens of prompt and answer together; undefined if unknown. */
  readonly contextWindow: number | undefined;
  /** Undefined if the server decides. */
  readonly maxOutputTokens: number | undefined;
  /** Undefined if unknown. */
  readonly prices: ModelPrices | undefined;
  readonly switches: ModelSwitches;
  /** Fields of the body that its server refuses (refusals/concessions.ts). */
  readonly omitted?: readonly string[];
  /** Every configured secret, also those of other models. A word of a server that holds part of one is not shown. */
  readonly secrets: readonly string[];
}

const DEMO: DemoTarget = {
  kind: 'demo',
  takesImages: false,
  contextWindow: undefined,
  maxOutputTokens: undefined,
};

/** The settings of the models. The table names its keys, which are further bindings. */
export interface ModelEnv {
  /** The table of models as JSON (shared/settings/models.ts). Each `keyName` in it names a secret binding. */
  readonly MODELS?: string;
  readonly OPENAI_BASE_URL?: string;
  readonly OPENAI_API_KEY?: string;
  /** The model that answers when a request names none. */
  readonly OPENAI_MODEL?: string;
  /** Models that take no images, separated by commas: a message with images is refused for them. */
  readonly TEXT_ONLY_MODELS?: string;
  /** Names of the configured upstream whose servers keep nothing, separated by commas; `*` for all. */
  readonly PRIVATE_MODELS?: string;
  /** Set by {@link privateSettings}. */
  readonly isPrivate?: true;
  /** Not a model's key. Listed here so that no text of a server can show it. */
  readonly AUTH_SECRET?: string;
}

/** The settings of a private conversation: only models that keep nothing, and `store` is false. */
export function privateSettings<Settings extends ModelEnv>(env: Settings): Settings {
  return { ...env, isPrivate: true };
}

/**
 * A name in the table goes to its own server, any other name to the configured upstream. Without a table and an
 * upstream, the demo answers for every name.
 * @throws {DrawbridgeError} NOT_CONFIGURED for a bad table, UNKNOWN_MODEL for a name that no server answers for,
 * MODEL_NOT_PRIVATE in a private conversation.
 */
export function resolveTarget(model: string, env: ModelEnv): ModelTarget {
  const table = readTable(env);
  const entry = table?.find(({ id }) => id === model);
  if (entry) return targetOf(entry, env);
  const isOpen = passesThrough(env, table);
  if (env.isPrivate && (isOpen || table) && !isPassedPrivately(model, env)) throw notPrivate(table);
  if (isOpen) return passThrough(model, env);
  if (table) throw unknownModel(model, table);
  return DEMO;
}

/**
 * The model of a request: the named one, else the configured default.
 * @throws {DrawbridgeError} as {@link resolveTarget}, and UNKNOWN_MODEL for a model without the chat role.
 */
export function resolveModel(requested: string | undefined, env: ModelEnv): string {
  const table = readTable(env);
  if (!table && !passesThrough(env, table)) return DEMO_MODEL;
  const model = requested ?? defaultModel(env, table);
  if (!model && env.isPrivate) throw notPrivate(table);
  if (!model) {
    throw new DrawbridgeError(
      'UNKNOWN_MODEL',
      'model: name a model in the request, or set OPENAI_MODEL to the one that answers by default',
    );
  }
  resolveTarget(model, env);
  const entry = table?.find(({ id }) => id === model);
  if (table && entry && !chats(entry)) throw unknownModel(model, table);
  return model;
}

/** Whether the table has the model, with the chat role. */
export function isConfigured(model: string, env: ModelEnv): boolean {
  return readTable(env)?.some((entry) => entry.id === model && chats(entry)) ?? false;
}

/** The first model of the table with the role, else `fallback`: a task of a run falls back to the run's own model. */
export function modelForRole<Fallback extends string | null>(
  role: ModelRole,
  fallback: Fallback,
  env: ModelEnv,
): string | Fallback {
  return readTable(env)?.find(({ roles }) => roles.includes(role))?.id ?? fallback;
}

/** Every model that may work for a response to this model's message: itself, those of other roles, and all their fallbacks. */
export function modelsOfRun(model: string, env: ModelEnv): string[] {
  const table = readTable(env);
  const fallbacksOf = (name: string) => table?.find(({ id }) => id === name)?.fallbacks ?? [];
  const others = (['fast', 'summary'] as const).map((role) => modelForRole(role, model, env));
  return [...new Set([model, ...others].flatMap((name) => [name, ...fallbacksOf(name)]))];
}

/** The models of the table and the default, without an upstream's own list. @throws NOT_CONFIGURED */
export function listModels(env: ModelEnv): ModelList {
  const table = readTable(env);
  const isOpen = passesThrough(env, table);
  if (!table && !isOpen) {
    const demo = { id: DEMO_MODEL, isDefault: true, takesImages: false, isPrivate: true as const };
    return { items: [demo], passesThrough: isOpen };
  }
  const first = defaultModel(env, table);
  const listed = (table ?? []).map((entry) => infoOf(entry, first));
  if (!first || !isOpen || listed.some(({ id }) => id === first)) {
    return { items: listed, passesThrough: isOpen };
  }
  const { takesImages } = resolveTarget(first, env);
  const isPrivate = isPassedPrivately(first, env) && { isPrivate: true as const };
  const items = [...listed, { id: first, isDefault: true, takesImages, ...isPrivate }];
  return { items, passesThrough: isOpen };
}

/** The table, or null if `MODELS` is not set. Parsed again only if the text changes. */
export function readTable({ MODELS: text, isPrivate }: ModelEnv): ModelTable | null {
  if (!text) return null;
  if (parsed?.text !== text) {
    const table = parseModelTable(text);
    parsed = { text, table, privateTable: privateTableOf(table) };
  }
  return isPrivate ? parsed.privateTable : parsed.table;
}

let parsed: {
  readonly text: string;
  readonly table: ModelTable;
  readonly privateTable: ModelTable;
} | null = null;

function privateTableOf(table: ModelTable): ModelTable {
  const kept = table.filter((entry) => entry.isPrivate && chats(entry));
  const names = new Set(kept.map(({ id }) => id));
  return kept.map((entry) => ({
    ...entry,
    roles: ['chat'],
    fallbacks: entry.fallbacks.filter((name) => names.has(name)),
    switches: { ...entry.switches, store: false },
  }));
}

/** Whether the configured upstream keeps nothing of what this model gets. An entry of the table speaks for itself. */
function isPassedPrivately(model: string, { MODELS, PRIVATE_MODELS }: ModelEnv): boolean {
  const names = namesIn(PRIVATE_MODELS);
  const isListed = readTable({ MODELS: MODELS ?? '' })?.some(({ id }) => id === model);
  return !isListed && (names.includes('*') || names.includes(model));
}

function namesIn(setting = ''): string[] {
  return setting.split(',').map((name) => name.trim());
}

/** With a table, names outside it need OPENAI_BASE_URL: OPENAI_API_KEY alone may be meant for the table's models. */
function passesThrough(env: ModelEnv, table: ModelTable | null): boolean {
  return Boolean(env.OPENAI_BASE_URL || (!table && env.OPENAI_API_KEY));
}

function defaultModel(env: ModelEnv, table: ModelTable | null): string | undefined {
  const { OPENAI_MODEL: named, isPrivate } = env;
  const isLeftOut =
    isPrivate && !table?.some(({ id }) => id === named) && !isPassedPrivately(named ?? '', env);
  return (!isLeftOut && named) || table?.find(chats)?.id;
}

function targetOf(entry: ModelEntry, env: ModelEnv): ServerTarget {
  const { id, dialect, takesImages, contextWindow, maxOutputTokens, prices, switches } = entry;
  const { baseUrl, keyName } = serverOf(entry, env);
  return {
    kind: 'server',
    dialect,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    apiKey: keyOf(entry, keyName, env),
    upstreamId: entry.upstreamId ?? id,
    takesImages,
    contextWindow,
    maxOutputTokens,
    prices,
    switches,
    secrets: secretsOf(env),
  };
}

/** Only a key that the entry itself names must be there. */
function keyOf(entry: ModelEntry, keyName = '', env: ModelEnv): string | null {
  const key: unknown = Reflect.get(env, keyName);
  if (typeof key === 'string' && key !== '') return key;
  if (entry.keyName === undefined) return null;
  throw new DrawbridgeError(
    'NOT_CONFIGURED',
    `MODELS: the key of ${entry.id} is missing: set the secret ${keyName}`,
  );
}

function passThrough(model: string, env: ModelEnv): ServerTarget {
  // A model that is not listed as text-only gets images.
  const takesImages = !namesIn(env.TEXT_ONLY_MODELS).includes(model);
  const switches = { ...PASSED_ON.switches, ...(env.isPrivate && { store: false }) };
  return targetOf({ ...PASSED_ON, id: model, takesImages, switches }, env);
}

const PASSED_ON = ModelEntry.parse({ id: 'any' });

function secretsOf(env: ModelEnv): string[] {
  const table = readTable(env) ?? [];
  const keys: unknown[] = table.map(({ keyName = '' }) => Reflect.get(env, keyName));
  const addresses = [env.OPENAI_BASE_URL, ...table.map(({ baseUrl }) => baseUrl)];
  return [
    env.OPENAI_API_KEY,
    env.AUTH_SECRET,
    ...keys,
    ...addresses.flatMap((address) => secretsInUrl(address ?? '')),
  ].filter((secret) => typeof secret === 'string');
}

function infoOf(entry: ModelEntry, first: string | undefined): ModelInfo {
  const { id, takesImages, roles, contextWindow, prices, isPrivate } = entry;
  return {
    id,
    isDefault: id === first && chats(entry),
    takesImages,
    ...(isPrivate && { isPrivate }),
    roles,
    ...(contextWindow !== undefined && { contextWindow }),
    ...(prices && { prices }),
  };
}

function unknownModel(model: string, table: ModelTable): DrawbridgeError {
  const names = table.filter(chats).map(({ id }) => id);
  return new DrawbridgeError(
    'UNKNOWN_MODEL',
    `model: nothing here answers as ${model}: name one of ${names.join(', ')}`,
  );
}

/** `table` has the models that a private conversation can have. */
function notPrivate(table: ModelTable | null): DrawbridgeError {
  const names = (table ?? []).map(({ id }) => id);
  const todo =
    names.length === 0
      ? 'the operator of this server marks such models with isPrivate or PRIVATE_MODELS'
      : `name one of ${names.join(', ')}`;
  return new DrawbridgeError(
    'MODEL_NOT_PRIVATE',
    `model: a private conversation goes only to models that keep nothing: ${todo}`,
  );
}

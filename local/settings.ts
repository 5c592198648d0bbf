/** Reads the settings of an instance from the environment: its models, and other settings of the Worker. */
import { LocalError } from '../machine/local-error.ts';
import { DrawbridgeError } from '../shared/errors.ts';
import { BUDGET_LIMITS, METRICS_LIMITS, PRIVACY_LIMITS } from '../shared/limits.ts';
import { DEFAULT_DIALECT, PROVIDERS } from '../shared/settings/dialects.ts';
import { chats, type ModelTable, parseModelTable } from '../shared/settings/models.ts';
import { parsePromptBlocks } from '../shared/settings/prompt-blocks.ts';

/** `demo`: no table, no base URL and no key is set, so the built-in demo model answers. */
export type ModelSettings =
  | { readonly kind: 'demo' }
  | {
      readonly kind: 'table';
      /** The chat models of the table. */
      readonly models: readonly string[];
      /** The model that answers when a request names none. */
      readonly model: string | undefined;
      /** The Worker's variables: the table, the defaults for its missing fields, and its keys. */
      readonly variables: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: 'upstream';
      readonly baseUrl: string;
      readonly apiKey: string | undefined;
      /** The model that answers when a request names none. */
      readonly model: string | undefined;
    };

const OPENAI = PROVIDERS[DEFAULT_DIALECT].baseUrl;

const MODEL_VARIABLES = ['MODELS', 'OPENAI_BASE_URL', 'OPENAI_API_KEY', 'OPENAI_MODEL'] as const;

/** @throws {LocalError} if OPENAI_BASE_URL is not an http(s) URL, MODELS is no table, or one of its keys is unset. */
export function readModelSettings(env: NodeJS.ProcessEnv): ModelSettings {
  return env['MODELS'] ? readTableSettings(env, env['MODELS']) : readUpstreamSettings(env);
}

/** The names of the variables for models' keys, set or not. @throws {LocalError} if MODELS is not a table. */
export function modelKeyNames({ MODELS }: NodeJS.ProcessEnv): readonly string[] {
  const table = MODELS ? parseTable(MODELS) : [];
  return ['OPENAI_API_KEY', ...table.flatMap(({ keyName }) => keyName ?? [])];
}

function readTableSettings(env: NodeJS.ProcessEnv, text: string): ModelSettings {
  const table = parseTable(text);
  requireWebAddress(env['OPENAI_BASE_URL']);
  const keys = table.flatMap(({ keyName }) => keyName ?? []);
  const missing = keys.find((name) => !env[name]);
  if (missing)
    throw new LocalError(
      'refused',
      `MODELS names the key ${missing}, which is not set: set it in the environment.`,
    );
  const names = [...MODEL_VARIABLES, ...keys];
  const models = table.filter(chats).map(({ id }) => id);
  if (models.length === 0 && !env['OPENAI_BASE_URL'])
    throw new LocalError(
      'refused',
      'MODELS has no model that answers messages: give one the role "chat".',
    );
  const set = names.map((name) => [name, env[name] ?? ''] as const);
  return {
    kind: 'table',
    models,
    model: env['OPENAI_MODEL'] || models[0],
    variables: Object.fromEntries(set.filter(([, value]) => value !== '')),
  };
}

function parseTable(text: string): ModelTable {
  return orRefused(() => parseModelTable(text));
}

/** @throws {LocalError} for a setting that the Worker would refuse at each request. */
function orRefused<Value>(parse: () => Value): Value {
  try {
    return parse();
  } catch (cause) {
    if (!(cause instanceof DrawbridgeError)) throw cause;
    throw new LocalError('refused', cause.message, { cause });
  }
}

function readUpstreamSettings(env: NodeJS.ProcessEnv): ModelSettings {
  const { OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL } = env;
  // An empty variable counts as unset: a person can switch it off this way for one command.
  const apiKey = OPENAI_API_KEY || undefined;
  const baseUrl = OPENAI_BASE_URL || (apiKey && OPENAI);
  if (!baseUrl) return { kind: 'demo' };
  requireWebAddress(baseUrl);
  return { kind: 'upstream', baseUrl, apiKey, model: OPENAI_MODEL || undefined };
}

function requireWebAddress(baseUrl: string | undefined): void {
  if (!baseUrl || isWebAddress(baseUrl)) return;
  throw new LocalError(
    'refused',
    `OPENAI_BASE_URL must be an http(s) URL such as ${OPENAI}, not ${JSON.stringify(baseUrl)}.`,
  );
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/** The variables of the model that the Worker reads, without the unset ones. */
export function modelVariables(settings: ModelSettings): Readonly<Record<string, string>> {
  if (settings.kind === 'demo') return {};
  if (settings.kind === 'table') return settings.variables;
  const { baseUrl, apiKey, model } = settings;
  return {
    OPENAI_BASE_URL: baseUrl,
    ...(apiKey !== undefined && { OPENAI_API_KEY: apiKey }),
    ...(model !== undefined && { OPENAI_MODEL: model }),
  };
}

/** Whether a text is an http(s) URL without a path; it may end in a slash. */
export function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin, protocol } = new URL(text);
  return /^https?:$/.test(protocol) && origin === text.replace(/\/$/, '');
}

/** Anything else would match no webhook. */
function requireOrigin(text: string): void {
  if (isOrigin(text)) return;
  throw new LocalError(
    'refused',
    `WEBHOOK_ORIGINS must list origins such as http://127.0.0.1:9000, not ${JSON.stringify(text)}.`,
  );
}

/** The Worker would count any other as not set. */
function requireTurns(text = ''): void {
  const { maxTurns: most } = BUDGET_LIMITS;
  if (text === '' || (/^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= most)) return;
  throw new LocalError('refused', `MAX_TURNS must be a whole number from 1 to ${most}.`);
}

/** The Worker would refuse every new conversation. */
function requireHours(text = ''): void {
  const { maxHours: most } = PRIVACY_LIMITS;
  if (text === '' || (/^\d+$/.test(text) && Number(text) <= most)) return;
  throw new LocalError('refused', `DELETE_AFTER_HOURS must be a whole number from 0 to ${most}.`);
}

/** The Worker would not count a short one, and answer 404 without a reason. */
function requireLongTokens(text = ''): void {
  const { minTokenChars: least } = METRICS_LIMITS;
  const isShort = text.split(/\s+/).some(({ length }) => length > 0 && length < least);
  if (!isShort) return;
  throw new LocalError(
    'refused',
    `Each token in METRICS_TOKEN needs ${least} characters or more: \`openssl rand -hex 32\` prints one.`,
  );
}

/** All spans would be lost. */
function requireEndpoint(text = ''): void {
  if (text === '' || isWebAddress(text)) return;
  const message =
    'OTEL_EXPORTER_OTLP_ENDPOINT must be an http(s) URL such as http://127.0.0.1:4318.';
  throw new LocalError('refused', message);
}

/** Settings that an instance passes to the Worker; wrangler.toml explains each one. */
const WORKER_SETTINGS = [
  'ALLOWED_ORIGINS',
  'TEXT_ONLY_MODELS',
  'PRIVATE_MODELS',
  'DELETE_AFTER_HOURS',
  'PROMPT_BLOCKS',
  'WEBHOOK_ORIGINS',
  'MAX_TURNS',
  'RATE_LIMIT_REQUESTS_PER_MINUTE',
  'RATE_LIMIT_RUNS_PER_MINUTE',
  'METRICS_TOKEN',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
] as const;

/** The names of all variables that a server reads, except the keys that MODELS names. compose.yaml lists the same. */
export const SERVER_VARIABLES = [...MODEL_VARIABLES, ...WORKER_SETTINGS] as const;

/**
 * The settings that are set, except those of the model.
 * @throws {LocalError} if PROMPT_BLOCKS is no list of changes, WEBHOOK_ORIGINS no list of origins, MAX_TURNS or
 * DELETE_AFTER_HOURS no number within its bound, METRICS_TOKEN too short, or OTEL_EXPORTER_OTLP_ENDPOINT no http(s) URL.
 */
export function readWorkerSettings(env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const { PROMPT_BLOCKS: blocks, WEBHOOK_ORIGINS: origins } = env;
  if (blocks) orRefused(() => parsePromptBlocks(blocks));
  for (const origin of origins ? origins.split(',') : []) requireOrigin(origin.trim());
  requireTurns(env['MAX_TURNS']);
  requireHours(env['DELETE_AFTER_HOURS']);
  requireLongTokens(env['METRICS_TOKEN']);
  requireEndpoint(env['OTEL_EXPORTER_OTLP_ENDPOINT']);
  const entries = WORKER_SETTINGS.map((name) => [name, env[name] ?? ''] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}

/** The APIs of model servers, and the provider behind each. The dialects themselves are in packages/model/dialects/. */
import * as z from 'zod';

/** The API of a model's server: Chat Completions, Anthropic's Messages or OpenAI's Responses. */
export const ModelDialect = z.enum(['chat', 'anthropic', 'responses']);
export type ModelDialect = z.infer<typeof ModelDialect>;

/** Most servers speak it. */
export const DEFAULT_DIALECT = 'chat' satisfies ModelDialect;

/** The company that made a dialect. Its server answers for an entry of the table that names no other. */
export type Provider = OpenAi | OtherProvider;

interface Api {
  /** In traces, as OpenTelemetry's conventions name it. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  readonly baseUrl: string;
  /** The headers with the key, and others that the API demands. */
  headers(key: string | null): Readonly<Record<string, string>>;
  /** Whether `switches.thinking` says how much a model thinks. */
  readonly takesThinking: boolean;
  /** Whether its server makes vectors as OpenAI's does, so that a model can have the role `embed`. */
  readonly makesVectors: boolean;
}

/** The only type with `settings`, and its address is a literal: OPENAI_API_KEY can go to no other provider. */
interface OpenAi extends Api {
  readonly baseUrl: 'https://api.openai.com/v1';
  /** The settings with another address and with the key, for entries that name none. */
  readonly settings: { readonly baseUrl: 'OPENAI_BASE_URL'; readonly key: 'OPENAI_API_KEY' };
}

/** Has no key but the one that an entry names. */
interface OtherProvider extends Api {
  readonly settings: null;
  /** The usual name of the key, for hints. The first start offers the providers of `cli/config/providers.ts`. */
  readonly keyName: string;
  readonly exampleModel: string;
}

const OPENAI: OpenAi = {
  name: 'openai',
  title: 'OpenAI',
  baseUrl: 'https://api.openai.com/v1',
  settings: { baseUrl: 'OPENAI_BASE_URL', key: 'OPENAI_API_KEY' },
  headers: (key) => (key === null ? {} : { authorization: `Bearer ${key}` }),
  takesThinking: false,
  makesVectors: true,
};

const ANTHROPIC: OtherProvider = {
  name: 'anthropic',
  title: 'Anthropic',
  baseUrl: 'https://api.anthropic.com/v1',
  settings: null,
  keyName: 'ANTHROPIC_API_KEY',
  exampleModel: 'claude-sonnet-5',
  headers: (key) => ({
    'anthropic-version': '2023-06-01',
    ...(key !== null && { 'x-api-key': key }),
  }),
  takesThinking: true,
  makesVectors: false,
};

export const PROVIDERS: Readonly<Record<ModelDialect, Provider>> = {
  chat: OPENAI,
  anthropic: ANTHROPIC,
  responses: OPENAI,
};

/** Where the requests of an entry of the table go, and the setting with the key. A key belongs to one server. */
export function serverOf(
  { dialect, baseUrl, keyName }: DialectEntry,
  env: { readonly OPENAI_BASE_URL?: string },
): { readonly baseUrl: string; readonly keyName: string | undefined } {
  const { settings, baseUrl: own } = PROVIDERS[dialect];
  if (baseUrl !== undefined || settings === null) return { baseUrl: baseUrl ?? own, keyName };
  return { baseUrl: env[settings.baseUrl] || own, keyName: keyName ?? settings.key };
}

interface DialectEntry {
  readonly dialect: ModelDialect;
  readonly baseUrl?: string | undefined;
  readonly keyName?: string | undefined;
}

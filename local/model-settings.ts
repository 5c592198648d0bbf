/** Which model answers, as the environment says. */
import { LocalError } from './local-error.ts';

/** Without a base URL and a key there is no model, and the built-in demo answers. */
export type ModelSettings =
  | { readonly kind: 'demo' }
  | {
      readonly kind: 'upstream';
      readonly baseUrl: string;
      readonly apiKey: string | undefined;
      /** The model that answers when a request names none. */
      readonly model: string | undefined;
    };

const OPENAI = 'https://api.openai.com/v1';

/** @throws {LocalError} if OPENAI_BASE_URL is no web address. */
export function readModelSettings(env: NodeJS.ProcessEnv): ModelSettings {
  const { OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL } = env;
  // An empty variable is an unset one: that is how it is switched off for one command.
  const apiKey = OPENAI_API_KEY || undefined;
  const baseUrl = OPENAI_BASE_URL || (apiKey && OPENAI);
  if (!baseUrl) return { kind: 'demo' };
  if (!/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) {
    throw new LocalError(
      'refused',
      `OPENAI_BASE_URL must be an http(s) URL such as ${OPENAI}, not ${JSON.stringify(baseUrl)}.`,
    );
  }
  return { kind: 'upstream', baseUrl, apiKey, model: OPENAI_MODEL || undefined };
}

/** The variables the Worker reads, without those that are unset. */
export function modelVariables(settings: ModelSettings): Readonly<Record<string, string>> {
  if (settings.kind === 'demo') return {};
  const { baseUrl, apiKey, model } = settings;
  return {
    OPENAI_BASE_URL: baseUrl,
    ...(apiKey !== undefined && { OPENAI_API_KEY: apiKey }),
    ...(model !== undefined && { OPENAI_MODEL: model }),
  };
}

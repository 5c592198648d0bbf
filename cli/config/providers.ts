/** The providers of models that the choice of a model always offers. */
import { Config, type KeyReference } from '../../local/config/schema.ts';
import { PROVIDERS } from '../../shared/settings/dialects.ts';

/** The settings that name a model; those that are absent are removed. */
export type ProviderSettings = Pick<Config, 'baseUrl' | 'key' | 'model' | 'models'>;

export interface OfferedProvider {
  /** Of the file with the key. */
  readonly name: string;
  readonly title: string;
  /** Beside the title where no key is known. */
  readonly detail: string;
  /** The variable that usually has the key. */
  readonly keyName: string;
  readonly baseUrl: string;
  readonly exampleModel: string;
  /** The headers of a request with the key. */
  headers(key: string): Readonly<Record<string, string>>;
  choice(model: string, key: KeyReference): ProviderSettings;
}

const { chat, anthropic } = PROVIDERS;
if (anthropic.settings !== null) throw new TypeError('Anthropic has a provider of its own.');
const { title, keyName, exampleModel } = anthropic;

const OPENROUTER_URL = 'https://openrouter.ai/api/v1';

export const OFFERED: readonly OfferedProvider[] = [
  {
    name: 'openai',
    title: 'OpenAI',
    detail: 'with a key from platform.openai.com',
    keyName: 'OPENAI_API_KEY',
    baseUrl: chat.baseUrl,
    exampleModel: 'gpt-5.2',
    headers: chat.headers,
    choice: (model, key) => ({ key, model }),
  },
  {
    name: 'anthropic',
    title,
    detail: 'with a key from console.anthropic.com',
    keyName,
    baseUrl: anthropic.baseUrl,
    exampleModel,
    headers: anthropic.headers,
    choice: (id, key) => ({
      models: Config.shape.models.parse([{ id, dialect: 'anthropic', key }]),
    }),
  },
  {
    name: 'openrouter',
    title: 'OpenRouter',
    detail: 'models of many companies, with a key from openrouter.ai',
    keyName: 'OPENROUTER_API_KEY',
    baseUrl: OPENROUTER_URL,
    exampleModel: 'openrouter/auto',
    headers: chat.headers,
    choice: (model, key) => ({ baseUrl: OPENROUTER_URL, key, model }),
  },
];

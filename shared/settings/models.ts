/** The table of models: the form of the Worker's setting MODELS. */
import * as z from 'zod';
import { MODEL_LIMITS } from '../limits.ts';
import { Currency } from '../wire/budget.ts';
import { DEFAULT_DIALECT, ModelDialect, PROVIDERS } from './dialects.ts';
import { parseJsonSetting } from './json-setting.ts';

/** What a model is for: answers (`chat`), quick small tasks (`fast`), edits, summaries, embeddings. */
export const ModelRole = z.enum(['chat', 'fast', 'apply', 'summary', 'embed']);
export type ModelRole = z.infer<typeof ModelRole>;

const Price = z.number().nonnegative();

/** Prices per million tokens. */
export const ModelPrices = z.strictObject({
  input: Price,
  /** The price of cached input. Without it, cached input costs `input`. */
  cachedInput: Price.optional(),
  /** The price of input that the server writes to its cache. Without it, such input costs `input`. */
  cacheWrite: Price.optional(),
  output: Price,
  currency: Currency,
});
export type ModelPrices = z.infer<typeof ModelPrices>;

const BAD_THINKING = `must be "adaptive" or a number of tokens from ${MODEL_LIMITS.minThinkingTokens}`;

/** How a server differs from others of its dialect. Without a dialect in its comment, a switch is for `chat`. */
export const ModelSwitches = z.strictObject({
  /** Whether to send `stream_options`, which asks for the usage. Some servers report no usage without it. */
  streamOptions: z.boolean().default(true),
  /** The field for `maxOutputTokens`. OpenAI's reasoning models take only `max_completion_tokens`. */
  maxTokensField: z.enum(['max_tokens', 'max_completion_tokens']).default('max_tokens'),
  /** The role of the system prompt. `user`: it stands before the user's first words, for templates without the role. */
  systemRole: z.enum(['system', 'developer', 'user']).default('system'),
  /** All dialects. Whether an answer may have several calls. Without it nothing is sent: several servers refuse it. */
  parallelToolCalls: z.boolean().optional(),
  /** `alternating`: its template wants turns of user and assistant. Known for Mistral and Gemma by their names. */
  roles: z.enum(['any', 'alternating']).default('any'),
  /** Ids of calls. `nine`: nine letters and digits, as Mistral wants them; otherwise as each model made them. */
  callIds: z.enum(['any', 'nine']).default('any'),
  /** What to send as `store`. Private conversations send false, and leave it out where the server refuses the field. */
  store: z.boolean().optional(),
  /** Whether a `<think>` at the start of an answer encloses reasoning. */
  thinkTags: z.boolean().default(true),
  /**
   * The field of an assistant message that returns the model's reasoning to the model. DeepSeek's and Moonshot's
   * thinking models refuse a conversation with tool calls but without `reasoning_content`. Groq and Mistral refuse the
   * field, so the default is `none`.
   */
  reasoningField: z.enum(['none', 'reasoning_content', 'reasoning']).default('none'),
  /** Whether to mark what the server should cache (`cache_control`), as OpenRouter wants it for Claude and Gemini. */
  cacheControl: z.boolean().default(false),
  /** All dialects. How much the model thinks. Each model takes only some of these. */
  effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).optional(),
  /** Only `anthropic`. The model thinks: as much as it wants, or (models before Claude 4.6) up to so many tokens. */
  thinking: z
    .union(
      [z.literal('adaptive'), z.int().min(MODEL_LIMITS.minThinkingTokens, BAD_THINKING)],
      BAD_THINKING,
    )
    .optional(),
  /** Only `anthropic` and `responses`. Whether the model gets back what it thought before its calls. */
  returnReasoning: z.boolean().default(true),
});
export type ModelSwitches = z.infer<typeof ModelSwitches>;

const PricesSetting = ModelPrices.extend({ currency: Currency.default('USD') });

const ModelName = z.string().min(1).max(MODEL_LIMITS.maxNameChars);
const Tokens = z.int().positive();

export const ModelEntry = z.strictObject({
  /** The name that requests give. */
  id: ModelName,
  dialect: ModelDialect.default(DEFAULT_DIALECT),
  /** The server's URL without the dialect's path. Default: OPENAI_BASE_URL for OpenAI's dialects, else the provider. */
  baseUrl: z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }).optional(),
  /** The secret binding with the server's key. Default: OPENAI_API_KEY, but never for another server. */
  keyName: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]*$/, 'must be the name of a secret binding such as GROQ_API_KEY')
    .refine((name) => name !== 'AUTH_SECRET', 'AUTH_SECRET is no key of a model server')
    .optional(),
  /** The model's name at its server. Default: `id`. */
  upstreamId: ModelName.optional(),
  roles: z.array(ModelRole).min(1).default(['chat']),
  /** Tokens of prompt and answer together. */
  contextWindow: Tokens.optional(),
  /** The longest answer to ask for, thoughts included. Without it, the server decides; `anthropic` has a default. */
  maxOutputTokens: Tokens.optional(),
  prices: PricesSetting.optional(),
  takesImages: z.boolean().default(true),
  /** Whether the server keeps nothing of a request once it is answered. The operator's word: nothing can check it. */
  isPrivate: z.boolean().default(false),
  /** Ids of the models in this table that answer if this one cannot, in order. */
  fallbacks: z.array(ModelName).max(MODEL_LIMITS.maxFallbacks).default([]),
  switches: ModelSwitches.prefault({}),
});
export type ModelEntry = z.infer<typeof ModelEntry>;

/** Ids are unique. Every fallback is another entry that chats, named once. Switches fit their entry. */
export const ModelTable = z
  .array(ModelEntry)
  .min(1)
  .max(MODEL_LIMITS.maxModels)
  .superRefine((models, context) => {
    const chatting = new Set(models.filter(chats).map(({ id }) => id));
    for (const [index, { id, fallbacks, ...entry }] of models.entries()) {
      const misfit = misfitOf(entry);
      if (misfit) context.addIssue({ code: 'custom', ...misfit, path: [index, ...misfit.path] });
      if (models.findIndex((other) => other.id === id) < index) {
        const path = [index, 'id'];
        context.addIssue({ code: 'custom', path, message: `there are two models ${id}` });
      }
      for (const [place, name] of fallbacks.entries()) {
        const isGood = chatting.has(name) && name !== id && fallbacks.indexOf(name) === place;
        if (isGood) continue;
        const path = [index, 'fallbacks', place];
        const message = `must be another chat model of this table, named once, not ${name}`;
        context.addIssue({ code: 'custom', path, message });
      }
    }
  });
export type ModelTable = z.infer<typeof ModelTable>;

/** The first setting of an entry that contradicts another one. */
function misfitOf({
  dialect,
  baseUrl,
  keyName,
  maxOutputTokens,
  switches: { thinking },
}: Omit<ModelEntry, 'id' | 'fallbacks'>): { path: string[]; message: string } | null {
  const provider = PROVIDERS[dialect];
  if (provider.settings === null && baseUrl === undefined && keyName === undefined) {
    return {
      path: ['keyName'],
      message: `must name the secret with the key, ${provider.keyName}`,
    };
  }
  if (thinking === undefined) return null;
  const path = ['switches', 'thinking'];
  if (!provider.takesThinking) return { path, message: `needs the dialect ${THINKING}` };
  const isTooLong = thinking !== 'adaptive' && thinking >= (maxOutputTokens ?? Infinity);
  return isTooLong ? { path, message: 'must be less than maxOutputTokens' } : null;
}

const THINKING = ModelDialect.options.filter((name) => PROVIDERS[name].takesThinking).join(' or ');

/** Whether the model answers messages. */
export function chats({ roles }: Pick<ModelEntry, 'roles'>): boolean {
  return roles.includes('chat');
}

/** @throws {DrawbridgeError} NOT_CONFIGURED, which names the first wrong field: `MODELS[0].prices.input: …`. */
export function parseModelTable(text: string): ModelTable {
  return parseJsonSetting({ name: 'MODELS', form: 'a JSON list of models' }, ModelTable, text);
}

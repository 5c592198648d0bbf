/** The form of config.json. docs/config.schema.json is made from it (local/config/json-schema.ts). */
import * as z from 'zod';
import { BUDGET_LIMITS, MODEL_LIMITS, PRIVACY_LIMITS } from '../../shared/limits.ts';
import { DEFAULT_DIALECT, PROVIDERS } from '../../shared/settings/dialects.ts';
import { chats, ModelEntry, ModelTable } from '../../shared/settings/models.ts';
import { PromptChanges } from '../../shared/settings/prompt-blocks.ts';
import { ModeName } from '../../shared/wire/definitions.ts';
import { Mode } from '../../shared/wire/modes.ts';
import { Preset } from '../../shared/wire/preset.ts';
import { LOCAL_LIMITS } from '../limits.ts';
import { isOrigin } from '../settings.ts';

/** The value of `model` that chooses the built-in demo model. */
export const DEMO = 'demo';

const REFERENCES =
  '{"env": "NAME"} (a variable), {"file": "PATH"} or {"command": ["pass", "show", "x"]}';

const Word = wordOf(/^[^\0]+$/, 'must not be empty');

function wordOf(form: RegExp, otherwise: string) {
  return z.string().max(LOCAL_LIMITS.maxConfigWordChars).regex(form, otherwise);
}

/** Where a key is kept. The file never has the key itself. */
export const KeyReference = z.union(
  [
    z
      .strictObject({ env: wordOf(/^[^=\0]+$/, 'must be the name of a variable') })
      .describe('A variable of the environment.'),
    z
      .strictObject({ file: Word })
      .describe(
        'A file with the key in one line. A relative path begins in the folder of config.json.',
      ),
    z
      .strictObject({
        command: z.array(Word).min(1, 'must name a program').max(LOCAL_LIMITS.maxConfigWords),
      })
      .describe('A program and its arguments, run without a shell. It prints the key in one line.'),
  ],
  {
    error: ({ input }) =>
      typeof input === 'string'
        ? `a key is never written into this file: say where it is kept, ${REFERENCES}`
        : `must say where the key is kept: ${REFERENCES}`,
  },
);
export type KeyReference = z.infer<typeof KeyReference>;

const [, FileKey, CommandKey] = KeyReference.options;

/** A key of the bridge. It gets none of the environment, so that no program that it starts can have one. */
const BRIDGE_REFERENCES = '{"file": "PATH"} or {"command": ["pass", "show", "x"]}';
const BridgeKey = z.union([FileKey, CommandKey], {
  error: `must say where the key is kept: ${BRIDGE_REFERENCES}`,
});

const BaseUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http(s) URL such as http://127.0.0.1:11434/v1' })
  .refine((url) => !hasPassword(url), 'must hold no password: a key has a field of its own, "key"');

/** Also runs for a text that is no URL. */
function hasPassword(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username !== '' || password !== '';
}

/** A model of the table. */
export const ConfigModel = ModelEntry.omit({ keyName: true }).extend({
  baseUrl: BaseUrl.optional(),
  key: KeyReference.optional(),
});
export type ConfigModel = z.infer<typeof ConfigModel>;

/** The name of the variable that carries the key of the model at this place of the table to the Worker. */
export function keyVariable(index: number): string {
  return `CONFIG_KEY_${index + 1}`;
}

/** The table in the form of the Worker's setting MODELS. */
export function toModelTable(models: readonly ConfigModel[]): unknown {
  return models.map(({ key, ...model }, index) => ({
    ...model,
    ...(key && { keyName: keyVariable(index) }),
  }));
}

const Models = z
  .array(ConfigModel)
  .min(1)
  .max(MODEL_LIMITS.maxModels)
  .superRefine((models, context) => {
    for (const { path, message } of ModelTable.safeParse(toModelTable(models)).error?.issues ??
      []) {
      const [index, field, ...rest] = path;
      const place = field === 'keyName' ? [index ?? 0, 'key'] : [index ?? 0, field ?? '', ...rest];
      const title = PROVIDERS[models[Number(index)]?.dialect ?? DEFAULT_DIALECT].title;
      const text = field === 'keyName' ? `must say where the key of ${title} is kept` : message;
      context.addIssue({ code: 'custom', path: place, message: text });
    }
  });

/** The model of the table that makes vectors. The bridge asks it itself. */
export function embedderOf({ models = [], baseUrl, key }: EmbedderSettings) {
  const index = models.findIndex(({ roles }) => roles.includes('embed'));
  const model = models[index];
  if (!model) return undefined;
  const hasOwn = model.baseUrl !== undefined;
  return {
    model: model.upstreamId ?? model.id,
    dialect: model.dialect,
    isPrivate: model.isPrivate,
    baseUrl: model.baseUrl ?? baseUrl ?? PROVIDERS[DEFAULT_DIALECT].baseUrl,
    isOpenAi: !hasOwn && baseUrl === undefined,
    key: model.key ?? (hasOwn ? undefined : key),
    place: `models[${index}].key`,
    index,
  };
}

type EmbedderSettings = Pick<Config, 'models' | 'baseUrl' | 'key'>;

/** What keeps the bridge from asking the model for vectors. */
function embedderMisfit(config: EmbedderSettings): { path: PropertyKey[]; message: string } | null {
  const found = embedderOf(config);
  if (!found) return null;
  const at = ['models', found.index];
  const { makesVectors, title } = PROVIDERS[found.dialect];
  if (!makesVectors) {
    return {
      path: [...at, 'dialect'],
      message: `${title} has no vectors: the role "embed" needs another`,
    };
  }
  const isReadable = found.key ? !('env' in found.key) : !found.isOpenAi;
  if (isReadable) return null;
  const message = `the bridge reads the key of the role "embed", and has no variables with keys: name ${BRIDGE_REFERENCES}`;
  return { path: [...at, 'key'], message };
}

const Origins = z.array(
  z.string().refine(isOrigin, 'must be an origin such as https://app.example.com'),
);
const PORT = 'must be a number from 0 to 65535';
const TURNS = `must be a whole number from 1 to ${BUDGET_LIMITS.maxTurns}`;
const HOURS = `must be a whole number from 0 to ${PRIVACY_LIMITS.maxHours}`;
const RATE = 'must be a whole number; 0 is for no limit';
const Rate = z.int(RATE).min(0, RATE);

const Server = z.strictObject({
  port: z
    .int(PORT)
    .min(0, PORT)
    .max(65_535, PORT)
    .optional()
    .describe('The port of the API; 0 for any free one.'),
  allowedOrigins: Origins.optional().describe('Origins of web pages that may call the API.'),
  webhookOrigins: Origins.optional().describe(
    'Origins that webhooks may go to although they are not public or have no https.',
  ),
  textOnlyModels: z
    .array(z.string().regex(/^[^,]+$/, 'must be a name without a comma'))
    .optional()
    .describe('Models of `baseUrl` that take no images.'),
  privateModels: z
    .array(z.string().regex(/^[^,]+$/, 'must be a name without a comma'))
    .optional()
    .describe('Models of `baseUrl` whose server keeps nothing of a request; "*" for all.'),
  deleteAfterHours: z
    .int(HOURS)
    .min(0, HOURS)
    .max(PRIVACY_LIMITS.maxHours, HOURS)
    .optional()
    .describe('Makes new conversations private: their text is deleted this long after the answer.'),
  maxTurns: z
    .int(TURNS)
    .min(1, TURNS)
    .max(BUDGET_LIMITS.maxTurns, TURNS)
    .optional()
    .describe(
      'Requests to the model in one answer: 100, where neither this nor the message says it.',
    ),
  requestsPerMinute: Rate.optional().describe('Requests of one account; 0 for no limit.'),
  runsPerMinute: Rate.optional().describe('Answers that one account may start; 0 for no limit.'),
  promptBlocks: PromptChanges.optional().describe('Changes of the system prompt.'),
});

const WebSearch = z
  .strictObject({
    shape: z
      .enum(['searxng', 'brave', 'tavily'])
      .describe('The service, or the one whose requests and answers it has.'),
    url: BaseUrl.optional().describe(
      'The address: of a SearXNG its first page, of the others the whole address, if it is not their own.',
    ),
    key: BridgeKey.optional().describe('Brave and Tavily need one.'),
  })
  .superRefine(({ shape, url, key }, context) => {
    const [field, message] =
      shape === 'searxng'
        ? (['url', 'must be the address of the SearXNG'] as const)
        : (['key', `must say where the key of ${shape} is kept`] as const);
    if ((shape === 'searxng' ? url : key) === undefined) {
      context.addIssue({ code: 'custom', path: [field], message });
    }
  });
export type WebSearch = z.infer<typeof WebSearch>;

const MODE = 'must be agent, plan, ask, debug, or the name of a mode of yours';

export const Config = z
  .strictObject({
    $schema: z.string().optional(),
    model: z
      .string()
      .min(1)
      .max(MODEL_LIMITS.maxNameChars)
      .optional()
      .describe('The model that answers when a request names none; "demo" for the built-in one.'),
    baseUrl: BaseUrl.optional().describe(
      'The URL of an OpenAI-compatible server. Default: OpenAI.',
    ),
    key: KeyReference.optional().describe('The key of the server at `baseUrl`.'),
    models: Models.optional().describe('A table of models with their own servers and keys.'),
    mode: z
      .string()
      .refine((name) => ModeName.safeParse(name).success, MODE)
      .optional()
      .describe('The mode of `drawbridge chat`: agent, plan, ask, debug or one of yours.'),
    preset: Preset.optional().describe(
      'What the agent may do without a question, in a project without a preset of its own in policy.json.',
    ),
    codeInPrompt: z
      .array(Mode)
      .optional()
      .describe(
        'The modes in which a message gets the code that it is about: agent, plan, ask and debug.',
      ),
    devicesMayAllowAlways: z
      .boolean()
      .optional()
      .describe('Whether devices of other machines may allow calls from now on, not once.'),
    devicesNeedPasskey: z
      .boolean()
      .optional()
      .describe('Whether devices of other machines may approve only by passkeys.'),
    webSearch: WebSearch.optional().describe('The service behind the tool web_search.'),
    server: Server.optional(),
    updateHint: z
      .boolean()
      .optional()
      .describe('Without effect: earlier versions looked for newer ones.'),
  })
  .superRefine((config, context) => {
    const { model, models, baseUrl } = config;
    const misfit = embedderMisfit(config);
    if (misfit) context.addIssue({ code: 'custom', ...misfit });
    if (!models || baseUrl) return;
    const names = models.filter(chats).map(({ id }) => id);
    if (names.length === 0) {
      const message = 'no model of the table answers messages: give one the role "chat"';
      context.addIssue({ code: 'custom', path: ['models'], message });
    } else if (model !== undefined && !names.includes(model)) {
      const message = `must be a chat model of the table: ${names.join(', ')}`;
      context.addIssue({ code: 'custom', path: ['model'], message });
    }
  });
export type Config = z.infer<typeof Config>;

/** Whether the file itself chooses the demo model. */
export function choosesDemo({ model, baseUrl, key, models }: Config): boolean {
  return model === DEMO && baseUrl === undefined && key === undefined && models === undefined;
}

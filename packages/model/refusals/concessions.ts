/** The table of settings that servers refuse, and how a request is written for them instead. Pure. */

import type { ModelDialect } from '../../../shared/settings/dialects.ts';
import type { ModelSwitches } from '../../../shared/settings/models.ts';
import type { UpstreamError } from '../errors.ts';
import type { ServerTarget } from '../models.ts';
import { pathOf, wordsOf } from './refusal.ts';

/** What a request to a server has differently. */
export interface Concession {
  readonly switches?: Partial<ModelSwitches>;
  /** Fields of the body that are left out. */
  readonly omitted?: readonly string[];
  /** The longest answer that is asked for, in tokens. */
  readonly maxOutputTokens?: number;
  /** Set where only this request needs it: others of the model are taken as they are. */
  readonly isOnce?: true;
}

/** The request that was refused. */
export interface RefusedForm {
  readonly target: ServerTarget;
  /** The body that was sent, without what was said. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The first concession of the table that changes the request; null where none of them is asked for. */
export function concessionTo(error: UpstreamError, form: RefusedForm): Concession | null {
  const { dialect } = form.target;
  for (const { dialects, concede } of ROWS) {
    if (dialects && !dialects.includes(dialect)) continue;
    const concession = concede(error, form);
    if (concession) return concession;
  }
  return null;
}

/** The target with the concession. */
export function withConcession(target: ServerTarget, made: Concession | undefined): ServerTarget {
  if (!made) return target;
  const { switches, omitted = [], maxOutputTokens = target.maxOutputTokens } = made;
  return {
    ...target,
    maxOutputTokens,
    switches: { ...target.switches, ...switches },
    omitted: [...new Set([...(target.omitted ?? []), ...omitted])],
  };
}

/** Both concessions, as one. */
export function bothOf(first: Concession | undefined, second: Concession): Concession {
  const omitted = [...new Set([...(first?.omitted ?? []), ...(second.omitted ?? [])])];
  const switches = { ...first?.switches, ...second.switches };
  return { ...first, ...second, switches, omitted };
}

/** What its switches change, for people: by the names in the body. */
export function switchedBy(made: Concession | undefined): string[] {
  return Object.keys(made?.switches ?? {}).map((name) => FIELD_OF_SWITCH[name] ?? name);
}

const FIELD_OF_SWITCH: Readonly<Record<string, string>> = {
  maxTokensField: 'max_tokens',
  streamOptions: 'stream_options',
  systemRole: 'system',
  callIds: 'tool_call_id',
  roles: 'messages',
  returnReasoning: 'reasoning',
  reasoningField: 'reasoning_content',
};

interface Row {
  /** Undefined for all. */
  readonly dialects?: readonly ModelDialect[];
  /** Null where the error is about something else, or the request has the concession already. */
  readonly concede: (error: UpstreamError, form: RefusedForm) => Concession | null;
}

const ROWS: readonly Row[] = [
  {
    // DeepSeek and Moonshot, where an answer has calls.
    dialects: ['chat'],
    concede: (error, { target: { switches } }) =>
      switches.reasoningField === 'none' && /reasoning_content/.test(wordsOf(error))
        ? { switches: { reasoningField: 'reasoning_content' }, isOnce: true }
        : null,
  },
  {
    // The server gives the model's thoughts back for no request.
    dialects: ['responses', 'anthropic'],
    concede: (error, { target: { switches } }) =>
      switches.returnReasoning && REFUSED_INCLUDE.test(wordsOf(error))
        ? { switches: { returnReasoning: false } }
        : null,
  },
  {
    dialects: ['responses', 'anthropic'],
    concede: (error, { target: { switches } }) =>
      switches.returnReasoning && REFUSED_THOUGHTS.some((one) => one.test(wordsOf(error)))
        ? { switches: { returnReasoning: false }, isOnce: true }
        : null,
  },
  { dialects: ['chat'], concede: concedeSystemRole },
  {
    // Mistral: "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."
    dialects: ['chat'],
    concede: (error, { target: { switches } }) =>
      switches.callIds === 'any' && /tool.?call.?id.*(?:length|a-z)/i.test(wordsOf(error))
        ? { switches: { callIds: 'nine' } }
        : null,
  },
  {
    dialects: ['chat'],
    concede: (error, { target: { switches } }) =>
      switches.roles === 'any' && ROLES.test(wordsOf(error))
        ? { switches: { roles: 'alternating' } }
        : null,
  },
  { concede: concedeMaxTokens },
  { concede: concedeField },
];

const REFUSED_INCLUDE =
  /encrypted content is not supported|["'`]include\b|\binclude\[\d|: include\b/i;

/** Thoughts made with another key, changed, in the wrong place, kept nowhere, or with a field not taken back. */
const REFUSED_THOUGHTS: readonly RegExp[] = [
  /signature.*thinking|thinking.*(signature|modified|but found)/i, // Anthropic
  /encrypted[ _]content|\breasoning\b.*\bitem\b|items are not persisted/i, // OpenAI
  /unknown parameter: 'input\[|'input\[\d+\]\.content': array too long/i,
];

const ROLES =
  /roles? must alternate|\brole ['"`]?\w+['"`]? after\b|after (?:message )?role|expected last role/i;

/** Templates of Gemma and Mistral take no system prompt, and some servers want OpenAI's newer name for it. */
function concedeSystemRole(error: UpstreamError, { target: { switches } }: RefusedForm) {
  if (switches.systemRole === 'user') return null;
  const isOfRole = /^messages[[.]\d+\]?\.role$/.test(pathOf(error)) || SYSTEM.test(wordsOf(error));
  return isOfRole ? { switches: { systemRole: 'user' as const } } : null;
}

const SYSTEM =
  /\b(?:system|developer)['"`]? (?:role|messages?|instructions?|prompts?)\b|\brole['"`]?:? ['"`]?(?:system|developer)\b/i;

/** Another name of the limit, a smaller one, or none. */
function concedeMaxTokens(
  error: UpstreamError,
  { target, fields }: RefusedForm,
): Concession | null {
  const field = MAX_FIELDS.find((name) => typeof fields[name] === 'number');
  const words = wordsOf(error);
  if (!field || !(MAX_FIELDS.includes(pathOf(error)) || MAX_WORDS.test(words))) return null;
  const other = OTHER_FIELD[field];
  const sent = Number(fields[field]);
  if (target.dialect === 'chat' && other && words.includes(other) && isUnknown(error))
    return { switches: { maxTokensField: other } };
  if (target.dialect !== 'anthropic' && OF_CONTEXT.test(words))
    return { omitted: [field], isOnce: true }; // Its numbers are of this request alone.
  const allowed = Array.from(words.matchAll(/\d[\d,]*/g), ([digits]) =>
    Number(digits.replaceAll(',', '')),
  ).filter((number) => number > 0 && number < sent);
  if (allowed.length > 0 && !isUnknown(error)) return { maxOutputTokens: Math.max(...allowed) };
  return target.dialect === 'anthropic' ? null : { omitted: [field] };
}

const MAX_FIELDS: readonly string[] = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'];
const MAX_WORDS = /\bmax_(?:completion_|output_)?tokens\b/;
const OF_CONTEXT = /\bcontext\b|\b(?:input|prompt) tokens\b/i;
const OTHER_FIELD: Readonly<Record<string, ModelSwitches['maxTokensField']>> = {
  max_tokens: 'max_completion_tokens',
  max_completion_tokens: 'max_tokens',
};

/**
 * The setting of the client whose value the server does not take, though it knows the setting: only the client can
 * choose another one. Undefined for any other refusal.
 */
export function badValueOf(error: UpstreamError, form: RefusedForm): string | undefined {
  const field = isUnknown(error) ? undefined : fieldNamed(error, form);
  return field === undefined ? undefined : CLIENTS[field];
}

/** The fields that have a client's value, with the name that the client gives. */
const CLIENTS: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  top_p: 'top_p',
  stop: 'stop',
  stop_sequences: 'stop',
  seed: 'seed',
  user: 'user',
  metadata: 'user',
};

/** Leaves out any setting that the error names, whatever it is called. */
function concedeField(error: UpstreamError, form: RefusedForm): Concession | null {
  const field = fieldNamed(error, form);
  return field === undefined ? null : { omitted: [field] };
}

/** The setting that the error names. */
function fieldNamed(error: UpstreamError, { target, fields }: RefusedForm): string | undefined {
  const [root = ''] = pathOf(error).split(/[.[]/);
  const isKept = (name: string) => KEPT.has(name) || KEPT_BY_DIALECT[target.dialect] === name;
  const names = Object.keys(fields).filter((name) => !isKept(name));
  const named = names.find((name) => name === root) ?? names.find((name) => isNamed(name, error));
  const unnamed = /extra inputs are not permitted/i.test(wordsOf(error)) ? 'stream_options' : '';
  return named ?? names.find((name) => name === unnamed);
}

/** Without these there is no request. */
const KEPT: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'input',
  'instructions',
  'system',
  'stream',
  'tools',
]);

/** Messages has to have a limit. The provider would keep what Responses leaves open; Chat Completions keep nothing. */
const KEPT_BY_DIALECT: Readonly<Partial<Record<ModelDialect, string>>> = {
  anthropic: 'max_tokens',
  responses: 'store',
};

/** A name of several words, or one that stands in quotes or as a field. `user` alone can be anything. */
function isNamed(name: string, error: UpstreamError): boolean {
  const words = wordsOf(error);
  if (name.includes('_') || OWN_WORDS.has(name)) return new RegExp(`\\b${name}\\b`).test(words);
  const quoted = `['"\`]${name}['"\`]`;
  const called = `\\b(?:parameters?|fields?|arguments?|property|keyword|key)s?(?: \\w+)?:? ['"\`]?${name}\\b`;
  return new RegExp(`${quoted}|${called}|^${name}: `, 'i').test(words);
}

/** No sentence about anything else has them. */
const OWN_WORDS: ReadonlySet<string> = new Set(['temperature']);

/** Whether the server does not know the setting, in place of refusing its value. */
export function isUnknown(error: UpstreamError): boolean {
  const names = [error.code, error.type].join(' ');
  return UNKNOWN.test(wordsOf(error)) || /unsupported|unknown|extra_forbidden/.test(names);
}

const UNKNOWN =
  /unsupported|not supported|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|does not support|deprecated|no longer|instead|only the default|extra (?:inputs|fields)/i;

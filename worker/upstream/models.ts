/** Which server answers for a model: the configured OpenAI-compatible one, or the built-in demo model. */
import { DrawbridgeError } from '../../shared/errors.ts';
import type { ModelList } from '../../shared/listings.ts';
import type { Env } from '../env.ts';

export type ModelTarget =
  | {
      readonly kind: 'openai';
      readonly baseUrl: string;
      readonly apiKey: string | null;
      /** Models that take no images. */
      readonly textOnly: ReadonlySet<string>;
    }
  | { readonly kind: 'demo' };

/** The name under which the demo model answers. */
export const DEMO_MODEL = 'demo';

const OPENAI_BASE_URL = 'https://api.openai.com/v1';

type ModelEnv = Pick<
  Env,
  'OPENAI_BASE_URL' | 'OPENAI_API_KEY' | 'OPENAI_MODEL' | 'TEXT_ONLY_MODELS'
>;

/** With an upstream every model goes there; without one the demo model answers for all. */
export function resolveTarget(env: ModelEnv): ModelTarget {
  const apiKey = env.OPENAI_API_KEY || null;
  const baseUrl = env.OPENAI_BASE_URL || (apiKey && OPENAI_BASE_URL);
  if (!baseUrl) return { kind: 'demo' };
  const names = (env.TEXT_ONLY_MODELS ?? '').split(',').map((name) => name.trim());
  const textOnly = new Set(names.filter((name) => name !== ''));
  return { kind: 'openai', baseUrl: baseUrl.replace(/\/+$/, ''), apiKey, textOnly };
}

/** Whether images are passed on to the model. One of an upstream that is not known to refuse them gets them. */
export function takesImages(model: string, target: ModelTarget): boolean {
  return target.kind === 'openai' && !target.textOnly.has(model);
}

/** The model of a request: the one it names, else the configured default. */
export function resolveModel(requested: string | undefined, env: ModelEnv): string {
  if (resolveTarget(env).kind === 'demo') return DEMO_MODEL;
  const model = requested ?? env.OPENAI_MODEL;
  if (model) return model;
  throw new DrawbridgeError(
    'UNKNOWN_MODEL',
    'model: name a model in the request, or set OPENAI_MODEL to the one that answers by default',
  );
}

/** What can be answered with. An upstream's own list is not asked for: any name is passed on to it. */
export function listModels(env: ModelEnv): ModelList {
  const target = resolveTarget(env);
  if (target.kind === 'demo') {
    const demo = { id: DEMO_MODEL, isDefault: true, takesImages: false };
    return { items: [demo], passesThrough: false };
  }
  const { OPENAI_MODEL: id } = env;
  const items = id ? [{ id, isDefault: true, takesImages: takesImages(id, target) }] : [];
  return { items, passesThrough: true };
}

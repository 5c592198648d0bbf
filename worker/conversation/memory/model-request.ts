/** Builds the request of the next turn: system prompt, messages, tools. Pure. */

import type {
  ModelTarget,
  UpstreamMessage,
  UpstreamRequest,
} from '../../../packages/model/index.ts';
import {
  buildSystemPrompt,
  familyOf,
  type ModeWords,
  modeWordsWith,
  offeredTo,
} from '../../../packages/prompt/index.ts';
import { textOf } from '../../../shared/api/requests.ts';
import type { PromptChange } from '../../../shared/settings/prompt-blocks.ts';
import type { Tool } from '../../../shared/tools/toolbox.ts';
import type { Instructions } from '../../../shared/wire/offer.ts';
import type { PlacedImages } from '../../images/put-in.ts';
import { offeredTools } from '../log/offered-tools.ts';
import { subagentOf } from '../store/errands.ts';
import type { Run } from '../store/rows.ts';
import type { ModelSize } from './window/size.ts';

/** The properties of a model that a request depends on. */
export type Listener = Pick<ModelTarget, 'takesImages' | 'contextWindow' | 'maxOutputTokens'> & {
  /** The model's name at its server, where it has one. */
  readonly upstreamId?: string;
};

/** The request without its messages: the same for as long as the run's settings are, for the provider's cache. */
export interface RequestFrame extends Pick<UpstreamRequest, 'tools'> {
  readonly system: string;
  /** What a message says about another mode; undefined for the built-in words. */
  readonly modeWords?: ModeWords | undefined;
}

/** `run` is the run that asks, with the model that answers. `changes` are the deployment's. */
export function frameOf(
  run: Run,
  { upstreamId }: Listener,
  changes: readonly PromptChange[],
): RequestFrame {
  const { model, mode, context, messages } = run.request;
  const subagent = subagentOf(run.request);
  const names = upstreamId === undefined ? [model] : [model, upstreamId];
  const family = familyOf(names);
  const tools = offeredTools(run);
  // The system prompt stays that of the mode in which the run began: a message describes another mode.
  const { switched, ...begun } = run;
  const described = switched ? offeredTools(begun) : tools;
  const demanded = messages
    .filter(({ role }) => role === 'system')
    .map(({ content }) => textOf(content));
  const rules = [...(context?.rules ?? []), ...demanded];
  const agents = run.machine?.context.definitions?.agents;
  const instructions = instructionsFor(run, described);
  // An app's function of the same name is none of the tools that the prompt speaks of.
  const ours = described.filter(({ executor }) => executor !== 'client');
  const all = [...(family?.changes ?? []), ...changes];
  return {
    system: buildSystemPrompt(
      { model, mode, tools: ours, rules, instructions, subagent, agents },
      all,
      names,
    ),
    modeWords: modeWordsWith(all, names),
    tools: offeredTo(
      family,
      tools.map((tool) => tool.toFunction()),
    ),
  };
}

/** Those of the servers that have a tool on offer in this run. */
function instructionsFor({ machine }: Run, tools: readonly Tool[]): readonly Instructions[] {
  const servers = new Set(tools.map(({ origin }) => origin?.server));
  return machine?.offers?.instructions?.filter(({ server }) => servers.has(server)) ?? [];
}

/** `said` must fit the model. */
export function requestFor(
  run: Run,
  { system, tools }: RequestFrame,
  said: readonly UpstreamMessage[],
): UpstreamRequest {
  return {
    model: run.request.model,
    messages: [{ role: 'system', content: system }, ...said],
    tools,
    sampling: run.request.sampling,
  };
}

/**
 * The messages with their large images in `places`: the newest first, as far as one request may hold them. A note stands
 * in place of the others, and of what is lost.
 */
export function withPlaces(
  messages: readonly UpstreamMessage[],
  places: PlacedImages,
): readonly UpstreamMessage[] {
  const placed = messages.toReversed().map((message) => {
    if (message.role !== 'user' || typeof message.content === 'string') return message;
    const content = message.content.map((part) => {
      if (part.type !== 'image_url') return part;
      const url = places.place(part.image_url.url);
      if (url === 'lost' || url === 'too_many') return NOTES[url];
      return { ...part, image_url: { ...part.image_url, url } };
    });
    return { ...message, content };
  });
  return placed.reverse();
}

const NOTES = {
  lost: { type: 'text', text: '[image, lost]' },
  too_many: { type: 'text', text: '[image, left out: later ones fill the request]' },
} as const;

/** The model's limits, and the size that every request of this run needs. */
export function sizeOf(
  run: Run,
  { system, tools, modeWords }: RequestFrame,
  listener: Listener,
): ModelSize {
  const { takesImages, contextWindow, maxOutputTokens } = listener;
  const fixedChars = system.length + JSON.stringify(tools).length;
  const { model } = run.request;
  return { model, takesImages, contextWindow, maxOutputTokens, fixedChars, modeWords };
}

/** The ids of all calls in a request: upstreams refuse a request that has an id twice. */
export function upstreamIdsIn({ messages }: UpstreamRequest): ReadonlySet<string> {
  const calls = messages.flatMap((message) =>
    message.role === 'assistant' ? (message.tool_calls ?? []) : [],
  );
  return new Set(calls.map(({ id }) => id));
}

/** The request of the next turn: system prompt, transcript, tools. */
import { textOf } from '../../shared/requests.ts';
import { toolsOffered } from '../../shared/tools/catalogue.ts';
import { toFunctionDefinition } from '../../shared/tools/definition.ts';
import { buildUserPrompt, tagQuery } from '../prompt/context.ts';
import { buildSystemPrompt } from '../prompt/system.ts';
import type { UpstreamRequest } from '../upstream/request.ts';
import type { Run } from './rows.ts';
import type { RunLog } from './run-log.ts';
import { messagesOfRun, type UserWords } from './transcript.ts';

/** `takesImages` says whether the run's model does. */
export function requestFor(run: Run, log: RunLog, takesImages: boolean): UpstreamRequest {
  const { model, mode, tools: wanted, context, messages } = run.request;
  const offered = toolsOffered(mode, new Set(run.machine?.tools)).filter(
    (tool) => !wanted || wanted[tool.name],
  );
  const system = messages
    .filter(({ role }) => role === 'system')
    .map(({ content }) => textOf(content));
  const rules = [...(context?.rules ?? []), ...system];
  const earlier = log.runs.filter(
    (other) => other.ordinal <= run.ordinal && other.started !== null,
  );
  return {
    model,
    messages: [
      {
        role: 'system',
        content: buildSystemPrompt({ model, mode, tools: offered.map(({ name }) => name), rules }),
      },
      ...earlier.flatMap((other) => {
        const told = { run: other, turns: log.turnsOf(other), steers: log.steersOf(other) };
        return messagesOfRun(told, USER_WORDS, takesImages);
      }),
    ],
    tools: offered.map(toFunctionDefinition),
  };
}

const USER_WORDS: UserWords = { asked: askedText, steering: tagQuery };

function askedText(query: string, run: Run): string {
  const { createdMs, mode, context } = run.request;
  return buildUserPrompt({
    query,
    createdMs,
    mode,
    context,
    machine: run.machine?.context ?? null,
  });
}

/** What the scripted model answers, in the versions that make states and in the one that opens them. */
import type { ScriptedRequest } from '../far-ends/reply-script.ts';
import type { ScriptedAnswer } from '../far-ends/scripted-model.ts';

/** The kinds of conversations that a state has. A message begins with the word of its kind. */
export const KINDS = ['text', 'edit', 'approval', 'plan', 'work'] as const;
export type Kind = (typeof KINDS)[number];

export const TEXT =
  'An answer with `code`, 😀 and a list:\n\n- one\n- two\n\n```js\nlet a = 1;\n```\n\nDone.';
export const LONG = Array.from({ length: 60 }, (_, line) => `Line ${line} of much.`).join('\n');

const COMMAND = 'echo allowed >> allowed.txt';

/** `isAtWork`: answers to `work` never come to an end. */
export function sceneOf(request: ScriptedRequest, isAtWork: boolean): ScriptedAnswer {
  const { messages } = request;
  const kind = kindOf(request);
  const isFollowUp = messages.at(-1)?.role === 'tool';
  if (kind === 'work') return { text: LONG, delayMs: isAtWork ? 20 : 0, hangs: isAtWork };
  if (isFollowUp) return { text: `The ${kind} is done.` };
  switch (kind) {
    case 'edit':
      return { calls: [{ name: 'write', arguments: { path: 'made.txt', contents: 'made\n' } }] };
    case 'approval':
      return { calls: [{ name: 'run_terminal_cmd', arguments: { command: COMMAND } }] };
    case 'plan':
      return { calls: [{ name: 'create_plan', arguments: PLAN }] };
    default:
      return { text: TEXT };
  }
}

const PLAN = {
  name: 'A plan',
  overview: 'To do two things.',
  plan: '# A plan\n\nFirst one thing, then another.',
  todos: [
    { id: 'one', content: 'one thing' },
    { id: 'two', content: 'another' },
  ],
};

/** By the newest message of the person. What is added around it names no kind. */
function kindOf({ messages }: ScriptedRequest): Kind {
  const asked = messages.filter(({ role }) => role === 'user').map((each) => JSON.stringify(each));
  const named = asked.reverse().flatMap((text) => /kind (\w+)/.exec(text)?.[1] ?? []);
  return KINDS.find((kind) => kind === named[0]) ?? 'text';
}

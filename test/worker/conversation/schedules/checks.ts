/** What must be true of a schedule at its end, whatever happened in it. */
import type { Cancelled } from '../../../../shared/api/answers.ts';
import type { ChatResponse, ConversationView } from '../../../../shared/wire/documents.ts';
import type { Follower } from './follower.ts';
import { contentOf, type Scripted } from './model.ts';
import { explain } from './oracle.ts';

/** What a schedule came to. */
export interface Ending {
  readonly scripted: Scripted;
  /** The response of each accepted message, by the message's number. */
  readonly accepted: ReadonlyMap<number, string>;
  /** How many accepted messages were to end what was running. */
  readonly interrupting: number;
  readonly cancels: readonly Cancelled[];
  readonly answers: ReadonlyMap<string, ChatResponse>;
  readonly view: ConversationView;
  readonly crashes: number;
}

export function checkFollower(follower: Follower, { answers, view }: Ending): string[] {
  const followed = follower.responses.flatMap((seen) => {
    const answer = answers.get(seen.id);
    const changed = answer ? follower.documents.changedIn(answer) : [];
    return [...changed, ...differences(`followed ${seen.id}`, seen, answer)];
  });
  const isWhole = follower.plan.follows === 'conversation';
  return [
    ...follower.problems,
    ...followed,
    ...(isWhole ? differences('followed messages', follower.messages, view.messages) : []),
  ];
}

export function checkAnswers(ending: Ending): string[] {
  const { accepted, answers, scripted, crashes, view } = ending;
  return [...answers.values()].flatMap((answer) => {
    const { id, documents } = answer;
    const messages = [...accepted].filter(([, of]) => of === id).map(([message]) => message);
    const shown = view.responses.find((response) => response.id === id);
    return [
      ...explain(answer, inOrder(messages, ending, id), scripted, crashes),
      ...(shown ? differences(`shown ${id}`, shown, answer) : []),
      ...(new Set(documents.map((document) => document.id)).size === documents.length
        ? []
        : ['an id stands for two documents']),
    ];
  });
}

/** As they stand in the conversation: the numbers say only when they were planned. */
function inOrder(
  numbers: readonly number[],
  { view, scripted }: Ending,
  responseId: string,
): number[] {
  const said = view.messages.filter((message) => message.responseId === responseId);
  const place = (number: number) =>
    said.findIndex(({ content }) => content === contentOf(scripted.plan.seed, number));
  return [...numbers].sort((a, b) => place(a) - place(b));
}

/** Every cancel got a true answer, and nothing was cancelled without one. */
export function checkCancels({ cancels, answers, interrupting }: Ending): string[] {
  const lies = cancels.filter(({ id, status }) => answers.get(id)?.status !== status);
  const asked = new Set(cancels.map(({ id }) => id));
  const others = [...answers.values()].filter(
    ({ id, status }) => status === 'cancelled' && !asked.has(id),
  );
  return [
    ...lies.map(({ id, status }) => `the cancel of ${id} was sent ${status}`),
    ...(others.length > interrupting ? [`${others.length} were cancelled by no one`] : []),
  ];
}

/** Each message stands there once, under the response that was said to belong to it. */
export function checkMessages({ accepted, view, scripted }: Ending): string[] {
  const stored = view.messages.map(({ content, responseId }) => `${content} ${responseId}`);
  const { seed } = scripted.plan;
  const said = [...accepted].map(([message, id]) => `${contentOf(seed, message)} ${id}`);
  const waiting = view.messages.filter(
    ({ steers, afterSequence, responseId }) =>
      steers &&
      afterSequence === undefined &&
      view.responses.some(({ id, status }) => id === responseId && status === 'completed'),
  );
  return [
    ...differences('messages', stored.sort(), said.sort()),
    ...waiting.map(({ content }) => `${content} steered a completed response and was never sent`),
  ];
}

function differences(what: string, one: unknown, other: unknown): string[] {
  const [a, b] = [JSON.stringify(one), JSON.stringify(other)];
  return a === b ? [] : [`${what}: ${a}\n  but ${b}`];
}

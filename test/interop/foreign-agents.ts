/** What the scripted model says to programs of others: they decide nothing by it but which of their tools to run. */
import type { ScriptedRequest } from '../far-ends/reply-script.ts';
import type { ScriptedAnswer, ScriptedModel } from '../far-ends/scripted-model.ts';

/** Words after which the model calls the tool, if it is on offer. */
export function asCall(name: string, args: object): string {
  return `CALL ${name} ${JSON.stringify(args)} END`;
}

/**
 * To `asCall`, the call; to its result, `It said: …`; to `Say word.`, `Heard word.`, which nobody has typed. Where results
 * and words come together, the words count.
 */
export function answerOf({ messages, tools = [] }: ScriptedRequest): ScriptedAnswer {
  const last = messages.at(-1);
  const words = textOf(last?.content);
  if (last?.role === 'tool') return { text: `It said: ${words.slice(0, 200)}` };
  // Programs quote what they put into a prompt.
  const call = [...words.replaceAll('\\"', '"').matchAll(/CALL (\w+) (\{.*?\}) END/gs)].at(-1);
  if (call !== undefined) {
    const [, name = '', args = '{}'] = call;
    const isOffered = tools.some((tool) => tool.function.name === name);
    if (isOffered) return { calls: [{ name, arguments: JSON.parse(args) }] };
  }
  const said = [...words.matchAll(/Say (\w+)\./g)].at(-1);
  return { text: said ? `Heard ${said[1]}.` : 'Fine.' };
}

/** The requests whose newest message has these words, as a run began or went on with them. */
export function requestsWith(model: ScriptedModel, words: string): ScriptedRequest[] {
  return model.requests.filter(({ messages }) => textOf(messages.at(-1)?.content).includes(words));
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return (Array.isArray(content) ? content : []).map((part) => Object(part).text ?? '').join('');
}

/** A PNG of one pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const PNG_URL = `data:image/png;base64,${PNG}`;

export function pictureFile(): Buffer {
  return Buffer.from(PNG, 'base64');
}

/** Whether the model sees a picture; some programs make a JPEG of what they send. */
export function hasPicture(request: ScriptedRequest | undefined): boolean {
  return /"url":"data:image\/(png|jpeg);base64,/.test(JSON.stringify(request));
}

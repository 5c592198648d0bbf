/** The one question of the demo model: the name of a file that is to be created. */
import type { Call } from './calls.ts';
import type { Result } from './history.ts';
import { isPath } from './paths.ts';

/** The first is taken when the user leaves the choice to the model. */
const OPTIONS = [
  { id: 'markdown', label: 'notes.md' },
  { id: 'text', label: 'hello.txt' },
] as const;

export function questionCall(): Call {
  return {
    name: 'ask_question',
    arguments: {
      title: 'Before I lay out a plan:',
      questions: [
        {
          id: 'path',
          prompt: 'Which file is to be created? Choose one, or write another path.',
          options: OPTIONS,
        },
      ],
    },
  };
}

/**
 * The path in a result of `ask_question` (worker/conversation/calls/edge-tools/questions.ts); the user's own words win over the option they
 * chose. Null where there was no answer at all.
 */
export function readAnswer({ text, failed }: Result): string | null {
  const said = /\n-> ([\s\S]*)$/.exec(text)?.[1];
  if (failed || said === undefined) return null;
  const chosen = OPTIONS.find(({ id, label }) => said.startsWith(`${label} (${id})`));
  const own = chosen ? said.slice(`${chosen.label} (${chosen.id})`.length) : said;
  return pathIn(own) ?? (chosen ?? OPTIONS[0]).label;
}

function pathIn(text: string): string | undefined {
  const words = text
    .split(/[\s;]+/)
    .map((word) => word.replaceAll(/^["'`@]+|["'`.,!?]+$/g, ''))
    .filter((word) => word !== '');
  return words.find(isPath) ?? (words.length === 1 ? words[0] : undefined);
}

/** Asks a person at a terminal for the values of a form, one field after the other. */

import { inPlainSight } from '../shared/text/plain-sight.ts';
import { type FormField, type FormValue, HOW, readField } from '../shared/wire/elicitation.ts';

export interface FormTerminal {
  /** Undefined when the terminal is closed or the question withdrawn. */
  readonly ask: (words: string) => Promise<string | undefined>;
  readonly say: (line: string) => void;
}

/** The values as JSON text. Undefined without an answer. */
export async function askForm(
  { ask, say }: FormTerminal,
  fields: readonly FormField[],
): Promise<string | undefined> {
  const values: [name: string, value: FormValue][] = [];
  for (const field of fields) {
    for (const line of optionLines(field)) say(line);
    for (let isRead = false; !isRead; ) {
      const typed = await ask(fieldWords(field));
      if (typed === undefined) return undefined;
      const read = readField(field, typed);
      isRead = 'value' in read;
      if ('problem' in read) say(`  ${inPlainSight(read.problem).replaceAll('\n', ' ')}`);
      else if (read.value !== undefined) values.push([field.name, read.value]);
    }
  }
  return JSON.stringify(Object.fromEntries(values));
}

/** The options of a field by their numbers. */
export function optionLines(field: FormField): string[] {
  if (field.type !== 'choice' && field.type !== 'choices') return [];
  return field.options.map(({ label }, index) => `  ${index + 1}. ${inOneLine(label)}`);
}

/** The question for a field's value, with what an empty answer means. */
export function fieldWords(field: FormField): string {
  const { name, title = name, required, type } = field;
  const standard = field.default === undefined ? undefined : JSON.stringify(field.default);
  const empty =
    standard === undefined
      ? required
        ? ''
        : ' Enter alone leaves it out.'
      : ` Enter alone means ${standard}.`;
  return `${inOneLine(title)}. ${HOW[type]}${inOneLine(empty)} `;
}

function inOneLine(text: string): string {
  return inPlainSight(text).replaceAll('\n', ' ');
}

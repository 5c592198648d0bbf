/** The form of an MCP server's question, field by field. */
import { fieldWords, optionLines } from '../../machine/ask-form.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { type FormField, type FormValue, HOW, readField } from '../../shared/wire/elicitation.ts';
import type { Line, Prompter, ReadLine } from './steps.ts';

type Values = readonly (readonly [name: string, value: FormValue])[];

/** The values as JSON text, after the person has read them all; undefined if the person went back. */
export async function fillForm(
  prompter: Prompter,
  fields: readonly FormField[],
): Promise<string | undefined> {
  for (;;) {
    const values = await askFields(prompter, fields);
    if (!values) return undefined;
    const chosen = await prompter.choose({
      title: 'Send this?',
      body: values.length === 0 ? [{ text: 'A yes, without values.' }] : values.map(lineOf),
      choices: [
        { label: 'Send it', needsEnd: true, answer: 'send' },
        { label: 'Fill it in again', answer: 'again' },
      ],
      isNew: true,
      line: 'seen',
    });
    if (chosen?.answer === 'send') return JSON.stringify(Object.fromEntries(values));
    if (!chosen && fields.length === 0) return undefined;
  }
}

/** Undefined if the person went back from the first field. */
async function askFields(
  prompter: Prompter,
  fields: readonly FormField[],
): Promise<Values | undefined> {
  const given: string[] = [];
  for (let at = 0; at < fields.length; ) {
    const [field] = fields.slice(at, at + 1);
    if (!field) break;
    const typed = await askField(prompter, field, `Field ${at + 1} of ${fields.length}`);
    if (typed !== undefined) given[at] = typed;
    at += typed === undefined ? -1 : 1;
    if (at < 0) return undefined;
  }
  return fields.flatMap((field, at) => {
    const read = readField(field, given[at] ?? '');
    const value = 'value' in read ? read.value : undefined;
    return value === undefined ? [] : [[field.name, value] as const];
  });
}

/** As a person types it at a terminal, whose rules hold for a choice too. Undefined if the person went back. */
async function askField(
  prompter: Prompter,
  field: FormField,
  title: string,
): Promise<string | undefined> {
  const body = bodyOf(field);
  const check = (typed: string) => {
    const read = readField(field, typed);
    return 'problem' in read ? inOneLine(read.problem) : undefined;
  };
  const labels = labelsOf(field);
  const words = fieldWords(field);
  const how = { text: HOW[field.type] };
  if (!labels) return await prompter.write({ title, body: [...body, how], check, line: words });
  const empty = emptyWords(field);
  const choices = labels.map((label, at) => {
    const typed = field.type === 'boolean' ? (at === 0 ? 'y' : 'n') : String(at + 1);
    return { label, answer: typed };
  });
  if (empty !== undefined) choices.push({ label: empty, answer: '' });
  const tickable = field.type === 'choices' ? labels.length : 0;
  const read = (typed: string): ReadLine<string> => {
    const problem = check(typed);
    return problem === undefined ? { answer: typed } : { problem };
  };
  const line = { above: optionLines(field), words, read };
  for (let note: string | undefined; ; ) {
    const chosen = await prompter.choose({ title, body, note, choices, tickable, line });
    if (!chosen) return undefined;
    const isTicked = chosen.answer !== '' && chosen.ticked.length > 0;
    const typed = isTicked ? chosen.ticked.map((at) => at + 1).join(' ') : chosen.answer;
    note = check(typed);
    if (note === undefined) return typed;
  }
}

/** Undefined for a field that is written. */
function labelsOf(field: FormField): readonly string[] | undefined {
  if (field.type === 'boolean') return ['Yes', 'No'];
  return 'options' in field ? field.options.map(({ label }) => inOneLine(label)) : undefined;
}

function bodyOf(field: FormField): Line[] {
  const { name, title = name, description } = field;
  const empty = labelsOf(field) ? undefined : emptyWords(field);
  return [
    { text: inOneLine(title), style: 'bold' },
    ...(description === undefined ? [] : [{ text: inOneLine(description) }]),
    ...(empty !== undefined ? [{ text: `Empty: ${empty}` }] : []),
  ];
}

/** What an empty answer means; undefined where there must be one. */
function emptyWords({ default: standard, required }: FormField): string | undefined {
  if (standard !== undefined) return `Default: ${inOneLine(JSON.stringify(standard))}`;
  return required ? undefined : 'Leave it out';
}

function lineOf([name, value]: Values[number]): Line {
  return { text: `  ${inOneLine(name)}: ${inOneLine(JSON.stringify(value))}` };
}

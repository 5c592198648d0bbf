/** The form of an MCP server's question, field by field. */
import { inOneLine } from '../../../shared/text/plain-sight.ts';
import {
  type FormField,
  type FormValue,
  HOW,
  readField,
} from '../../../shared/wire/elicitation.ts';
import type { Line } from './folded.ts';
import type { Panel } from './panel.ts';

type Values = readonly (readonly [name: string, value: FormValue])[];

/** The values as JSON text, after the person has read them all; undefined if the person went back. */
export async function fillForm(
  panel: Panel,
  fields: readonly FormField[],
): Promise<string | undefined> {
  for (;;) {
    const values = await askFields(panel, fields);
    if (!values) return undefined;
    const chosen = await panel.choose({
      title: 'Send this?',
      body: values.length === 0 ? [{ text: 'A yes, without values.' }] : values.map(lineOf),
      choices: [{ label: 'Send it', needsEnd: true }, { label: 'Fill it in again' }],
      isNew: true,
    });
    if (chosen?.index === 0) return JSON.stringify(Object.fromEntries(values));
    if (!chosen && fields.length === 0) return undefined;
  }
}

/** Undefined if the person went back from the first field. */
async function askFields(panel: Panel, fields: readonly FormField[]): Promise<Values | undefined> {
  const given: (FormValue | undefined)[] = [];
  for (let at = 0; at < fields.length; ) {
    const [field] = fields.slice(at, at + 1);
    if (!field) break;
    const place = `${at + 1} of ${fields.length}`;
    const answered = await askField(panel, field, place);
    if (answered) given[at] = answered.value;
    at += answered ? 1 : -1;
    if (at < 0) return undefined;
  }
  return fields.flatMap(({ name }, at) => {
    const value = given[at];
    return value === undefined ? [] : [[name, value] as const];
  });
}

interface FieldAnswer {
  /** Undefined for a field that is left out. */
  readonly value: FormValue | undefined;
}

/** Undefined if the person went back. */
async function askField(
  panel: Panel,
  field: FormField,
  place: string,
): Promise<FieldAnswer | undefined> {
  let problem: FieldProblem | undefined;
  for (;;) {
    const typed = await askTyped(panel, field, place, problem);
    if (typed === undefined) return undefined;
    const read = readField(field, typed);
    if ('value' in read) return read;
    problem = { note: inOneLine(read.problem), value: typed };
  }
}

/** Why an answer did not do, and what it was. */
interface FieldProblem {
  readonly note: string;
  readonly value: string;
}

/** The answer as a person types it at a terminal, whose rules hold for a choice too. */
async function askTyped(
  panel: Panel,
  field: FormField,
  place: string,
  problem: FieldProblem | undefined,
): Promise<string | undefined> {
  const body = bodyOf(field);
  const title = `Field ${place}`;
  const labels = labelsOf(field);
  if (!labels)
    return await panel.write({ title, body: [...body, { text: HOW[field.type] }], ...problem });
  const empty = emptyWords(field);
  const chosen = await panel.choose({
    title,
    body,
    note: problem?.note,
    choices: [...labels, ...(empty === undefined ? [] : [empty])].map((label) => ({ label })),
    ...(field.type === 'choices' && { tickable: labels.length }),
  });
  if (!chosen) return undefined;
  const { index, ticked } = chosen;
  if (index >= labels.length) return '';
  if (field.type === 'boolean') return index === 0 ? 'y' : 'n';
  const indexes = ticked.length > 0 ? ticked : [index];
  return indexes.map((each) => each + 1).join(' ');
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

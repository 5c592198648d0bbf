/** Questions to a person as the forms of an editor: those of the agent, and those of MCP servers. Pure. */
import type { ElicitationPropertySchema, ElicitationSchema } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import type { Answer, Question } from '../../client/index.ts';
import type { FormField } from '../../shared/wire/elicitation.ts';

/** What an editor sends back. */
export const FormContent = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
);
export type FormContent = z.infer<typeof FormContent>;

/** A form of an MCP server. Its values go back as they are. */
export function formOf(fields: readonly FormField[]): ElicitationSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, propertyOf(field)])),
    required: fields.filter(({ required }) => required).map(({ name }) => name),
  };
}

function propertyOf(field: FormField): ElicitationPropertySchema {
  const { title = field.name, description } = field;
  const about = { title, ...(description !== undefined && { description }) };
  switch (field.type) {
    case 'text': {
      const { name: _, required: __, type: ___, ...rest } = field;
      return { ...rest, ...about, type: 'string' };
    }
    case 'number':
    case 'integer': {
      const { name: _, required: __, ...rest } = field;
      return { ...rest, ...about };
    }
    case 'boolean':
      return { ...about, type: 'boolean', ...defaultOf(field) };
    case 'choice':
      return { ...about, type: 'string', oneOf: optionsOf(field), ...defaultOf(field) };
    case 'choices': {
      const { minItems, maxItems } = field;
      const bounds = {
        ...(minItems !== undefined && { minItems }),
        ...(maxItems !== undefined && { maxItems }),
      };
      const items = { anyOf: optionsOf(field) };
      return { ...about, type: 'array', items, ...bounds, ...defaultOf(field) };
    }
    default:
      return field satisfies never;
  }
}

function defaultOf<T>({ default: standard }: { readonly default?: T | undefined }) {
  return standard === undefined ? {} : { default: standard };
}

function optionsOf({ options }: Extract<FormField, { type: 'choice' | 'choices' }>) {
  return options.map(({ value, label }) => ({ const: value, title: label }));
}

/** The agent's questions: for each its options, and a field for the person's own words. */
export function formOfQuestions(questions: readonly Question[]): ElicitationSchema {
  const properties = questions.flatMap(({ text, options, allowMultiple }, at) => {
    const { choice, words } = namesOf(at);
    const named = options.map(({ id, label }) => ({ const: id, title: label }));
    const chosen: ElicitationPropertySchema = allowMultiple
      ? { type: 'array', title: text, items: { anyOf: named } }
      : { type: 'string', title: text, oneOf: named };
    const title = options.length === 0 ? text : 'Or in your own words';
    const written: ElicitationPropertySchema = { type: 'string', title };
    return [...(options.length === 0 ? [] : [[choice, chosen]]), [words, written]];
  });
  return { type: 'object', properties: Object.fromEntries(properties) };
}

/** A question without an answer is skipped. */
export function answersIn(questions: readonly Question[], content: FormContent): Answer[] {
  return questions.flatMap(({ id: questionId }, at) => {
    const { choice, words } = namesOf(at);
    const { [choice]: chosen = [], [words]: text = '' } = content;
    const optionIds = [chosen].flat().map(String);
    if (optionIds.length === 0 && text === '') return [];
    return [{ questionId, optionIds, ...(text !== '' && { text: String(text) }) }];
  });
}

/** The fields of a question by its place: the model may choose any text as its id. */
function namesOf(at: number): { readonly choice: string; readonly words: string } {
  return { choice: `question-${at + 1}`, words: `question-${at + 1}-words` };
}

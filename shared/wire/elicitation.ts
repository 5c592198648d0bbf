/** The form that an MCP server has a person fill in, and the values that fit it. */
import * as z from 'zod';
import { ELICITATION_LIMITS } from '../limits.ts';
import { parseJson } from '../text/json.ts';
import { schemaCheck } from '../text/json-schema.ts';

const { maxFields, maxOptions, maxTextChars } = ELICITATION_LIMITS;
const Text = z.string().max(maxTextChars);
const Choice = z.object({ value: Text, label: Text });
const Choices = z.array(Choice).min(1).max(maxOptions);
const Common = z.object({
  /** The value's name, which the server gets. */
  name: Text,
  title: Text.optional(),
  description: Text.optional(),
  required: z.boolean(),
});

/** One field. `default` is what counts where the person leaves the field empty. */
export const FormField = z.discriminatedUnion('type', [
  Common.extend({
    type: z.literal('text'),
    minLength: z.int().nonnegative().optional(),
    maxLength: z.int().nonnegative().optional(),
    format: z.enum(['email', 'uri', 'date', 'date-time']).optional(),
    default: Text.optional(),
  }),
  Common.extend({
    type: z.enum(['number', 'integer']),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    default: z.number().optional(),
  }),
  Common.extend({ type: z.literal('boolean'), default: z.boolean().optional() }),
  Common.extend({ type: z.literal('choice'), options: Choices, default: Text.optional() }),
  Common.extend({
    type: z.literal('choices'),
    options: Choices,
    minItems: z.int().nonnegative().optional(),
    maxItems: z.int().nonnegative().optional(),
    default: z.array(Text).max(maxOptions).optional(),
  }),
]);
export type FormField = z.infer<typeof FormField>;

/** Without fields the server asks for a yes. */
export const Form = z.array(FormField).max(maxFields);

export type FormValue = string | number | boolean | string[];
export type FormValues = Readonly<Record<string, FormValue>>;

const FormValues = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
);

export type ReadForm =
  | { readonly isValid: true; readonly values: FormValues }
  /** `problem` is one sentence for the person who has to answer again. */
  | { readonly isValid: false; readonly problem: string };

/** Reads the JSON text of an answer. Every value must belong to a field, and fit it. */
export function readForm(fields: readonly FormField[], json: string): ReadForm {
  try {
    const given = FormValues.parse(parseJson(json));
    const problem = schemaCheck(formSchema(fields))(given);
    if (problem === null) return { isValid: true, values: given };
    return { isValid: false, problem: `The values do not fit the form: ${problem}` };
  } catch {
    return {
      isValid: false,
      problem: 'The values must be a flat JSON object, one for each field.',
    };
  }
}

/** A field's value as typed; undefined for an optional field left empty. Options are numbers from 1. */
export function readField(
  field: FormField,
  typed: string,
): { readonly value: FormValue | undefined } | { readonly problem: string } {
  const text = typed.trim();
  if (text === '' && field.default !== undefined) return { value: field.default };
  if (text === '' && !field.required) return { value: undefined };
  const value = typedValue(field, text);
  if (value === undefined) return { problem: HOW[field.type] };
  const problem = schemaCheck(schemaOf(field))(value);
  return problem === null ? { value } : { problem: problem.replace(/^[^:]*: /, '') };
}

/** How a person types a field's value. */
export const HOW: Readonly<Record<FormField['type'], string>> = {
  text: 'Type a text.',
  number: 'Type a number.',
  integer: 'Type a whole number.',
  boolean: 'Type y or n.',
  choice: 'Type the number of one option.',
  choices: 'Type the numbers of the options.',
};

function typedValue(field: FormField, text: string): FormValue | undefined {
  switch (field.type) {
    case 'text':
      return text;
    case 'number':
    case 'integer':
      return text === '' || !Number.isFinite(Number(text)) ? undefined : Number(text);
    case 'boolean':
      return /^(y|yes|true)$/i.test(text) || (/^(n|no|false)$/i.test(text) ? false : undefined);
    case 'choice':
      return field.options[Number(text) - 1]?.value;
    case 'choices': {
      const numbers = text.split(/[\s,]+/).filter((part) => part !== '');
      const chosen = numbers.map((number) => field.options[Number(number) - 1]?.value);
      return chosen.every((value) => value !== undefined) ? chosen : undefined;
    }
    default:
      return field satisfies never;
  }
}

function formSchema(fields: readonly FormField[]): Record<string, unknown> {
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, schemaOf(field)])),
    required: fields.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}

function schemaOf(field: FormField): Record<string, unknown> {
  switch (field.type) {
    case 'text': {
      const { minLength, maxLength, format } = field;
      return withoutUndefined({ type: 'string', minLength, maxLength, format });
    }
    case 'number':
    case 'integer': {
      const { type, minimum, maximum } = field;
      return withoutUndefined({ type, minimum, maximum });
    }
    case 'boolean':
      return { type: 'boolean' };
    case 'choice':
      return { enum: field.options.map(({ value }) => value) };
    case 'choices': {
      const { options, minItems, maxItems } = field;
      const items = { enum: options.map(({ value }) => value) };
      return withoutUndefined({ type: 'array', items, minItems, maxItems, uniqueItems: true });
    }
    default:
      return field satisfies never;
  }
}

function withoutUndefined(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

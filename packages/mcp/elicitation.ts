/** Turns what an MCP server asks a person into a form, and the person's answer into the server's. Pure. */
import type {
  ElicitRequestFormParams,
  ElicitResult,
  PrimitiveSchemaDefinition,
} from '@modelcontextprotocol/client';
import { ELICITATION_LIMITS } from '../../shared/limits.ts';
import { Form, type FormField, readForm } from '../../shared/wire/elicitation.ts';
import type { PersonsAnswer, ServerQuestion } from '../host/index.ts';

/** Throws for a form that is larger than people fill in; the server gets the reason. */
export function toForm({
  message,
  requestedSchema,
}: Pick<ElicitRequestFormParams, 'message' | 'requestedSchema'>): ServerQuestion {
  const { properties, required = [] } = requestedSchema;
  const fields = Object.entries(properties).map(([name, schema]) =>
    fieldOf(name, schema, required.includes(name)),
  );
  const form = Form.safeParse(fields).data;
  const isShort = message.length <= ELICITATION_LIMITS.maxMessageChars;
  if (form && isShort) return { message, fields: form };
  throw new Error('No person can be asked: the form is larger than people fill in.');
}

/** The values of a yes have been checked when they were given. */
export function toElicitResult(
  { decision, content = '{}' }: PersonsAnswer,
  { fields }: Pick<ServerQuestion, 'fields'>,
): ElicitResult {
  if (decision === 'reject') return { action: 'decline' };
  const form = readForm(fields, content);
  if (decision !== 'once' || !form.isValid) return { action: 'cancel' };
  return { action: 'accept', content: { ...form.values } };
}

type Common = Pick<FormField, 'name' | 'title' | 'description' | 'required'>;

function fieldOf(name: string, schema: PrimitiveSchemaDefinition, required: boolean): unknown {
  const { title, description, default: standard } = schema;
  const common: Common = { name, title, description, required };
  const known = { ...common, default: standard };
  switch (schema.type) {
    case 'boolean':
      return { ...known, type: 'boolean' };
    case 'number':
    case 'integer': {
      const { type, minimum, maximum } = schema;
      return { ...known, type, minimum, maximum };
    }
    case 'array': {
      const { items, minItems, maxItems } = schema;
      const options = 'enum' in items ? items.enum.map(toOption) : items.anyOf.map(toTitled);
      return { ...known, type: 'choices', options, minItems, maxItems };
    }
    default:
      return { ...known, ...ofText(schema) };
  }
}

function ofText(schema: Extract<PrimitiveSchemaDefinition, { type: 'string' }>) {
  if ('oneOf' in schema) return { type: 'choice', options: schema.oneOf.map(toTitled) };
  if ('enum' in schema) {
    const labels = 'enumNames' in schema ? (schema.enumNames ?? []) : [];
    const options = schema.enum.map((value, index) => ({ value, label: labels[index] ?? value }));
    return { type: 'choice', options };
  }
  const { minLength, maxLength, format } = schema as {
    [Key in 'minLength' | 'maxLength' | 'format']?: unknown;
  };
  return { type: 'text', minLength, maxLength, format };
}

function toOption(value: string) {
  return { value, label: value };
}

function toTitled({ const: value, title }: { readonly const: string; readonly title: string }) {
  return { value, label: title };
}

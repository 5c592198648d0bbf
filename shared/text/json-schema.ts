/** Checks values by JSON Schemas that strangers wrote, in bounded time. */
import { type Schema, type SchemaDraft, Validator } from '@cfworker/json-schema';
import { SCHEMA_LIMITS } from '../limits.ts';

/** The schema cannot be applied: a reference leads nowhere or in a circle, or it takes too many steps. */
export class UnusableSchema extends Error {
  override readonly name = 'UnusableSchema';
}

/** What is wrong with a value; null if it fits. Regular expressions are passed over. @throws {UnusableSchema} */
export type SchemaCheck = (value: unknown) => string | null;

/** Compiles the schema with the first check. Draft 2020-12 unless the schema names an older one. */
export function schemaCheck(schema: Readonly<Record<string, unknown>>): SchemaCheck {
  const budget = { steps: 0 };
  let validator: Validator | undefined;
  return (value) => {
    budget.steps = SCHEMA_LIMITS.maxSteps;
    try {
      validator ??= new Validator(meteredCopy(schema, budget), draftOf(schema));
      const { valid, errors } = validator.validate(value);
      if (valid) return null;
      // The errors go from the outside to the inside: the last one names the value itself.
      const { instanceLocation = '#', error = 'it does not fit' } = errors.at(-1) ?? {};
      return `${instanceLocation}: ${error}`;
    } catch (cause) {
      throw new UnusableSchema('The JSON Schema cannot be applied.', { cause });
    }
  };
}

/**
 * The validator has no bound of its own, and `allOf` with references doubles its work with each level. It reads `$ref`
 * of every schema that it applies, so a getter there counts its steps and ends it. Every object gets the getter, as
 * a reference can lead to any.
 */
function meteredCopy(schema: object, budget: { steps: number }): Schema {
  return JSON.parse(JSON.stringify(schema), (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const object = withoutPatterns(value as Record<string, unknown>);
    const enumerable = Object.hasOwn(object, '$ref');
    const { $ref } = object;
    const get = () => {
      if (--budget.steps < 0) throw new RangeError('too many steps');
      return $ref;
    };
    return Object.defineProperty(object, '$ref', { get, enumerable });
  });
}

/** The object may also be a map of properties, one of which has the keyword's name: its value is no text then. */
function withoutPatterns(object: Record<string, unknown>): Record<string, unknown> {
  if (typeof object['pattern'] === 'string') delete object['pattern'];
  // The empty expression fits every name. Without any, `additionalProperties` would refuse what the real ones allow.
  if ('patternProperties' in object) object['patternProperties'] = { '': true };
  return object;
}

function draftOf({ $schema }: Readonly<Record<string, unknown>>): SchemaDraft {
  const named = typeof $schema === 'string' ? $schema : '';
  return DRAFTS.find(([mark]) => named.includes(mark))?.[1] ?? '2020-12';
}

const DRAFTS: readonly (readonly [mark: string, draft: SchemaDraft])[] = [
  ['draft-04/', '4'],
  ['draft-07/', '7'],
  ['/2019-09/', '2019-09'],
];

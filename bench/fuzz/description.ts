/** Reads the API's own description and checks the API against it. Runs in Node and in workerd. */
import { type Schema as CheckedSchema, Validator } from '@cfworker/json-schema';

/** The part of JSON Schema that the description uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly contentSchema?: Schema;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

export interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface DescribedParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: Schema;
}

interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly DescribedParameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, Media>> }>
  >;
}

export interface DescribedOperation extends OperationObject {
  /** In capitals. */
  readonly method: string;
  readonly path: string;
  /** Whether it takes no token. */
  readonly isOpen: boolean;
}

export interface Description {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The operations of a document, in order. */
export function operationsOf({ paths }: Description): DescribedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
      isOpen: operation.security?.length === 0,
    })),
  );
}

/** The schema itself, or the named schema that it refers to. */
export function resolve({ components }: Pick<Description, 'components'>, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const named = components.schemas[schema.$ref.slice(COMPONENTS.length)];
  if (!named) throw new Error(`The document lacks ${schema.$ref}.`);
  return named;
}

const COMPONENTS = '#/components/schemas/';

/** Checks values by the document's schemas, without evaluating text as code. */
export class Checker {
  readonly #definitions: Readonly<Record<string, unknown>>;
  readonly #validators = new Map<string, Validator>();

  /** With `closed`, a field that a schema does not name is an error: right for answers of the same version. */
  constructor(description: Description, { closed = false } = {}) {
    const { schemas } = description.components;
    this.#definitions = JSON.parse(JSON.stringify(schemas), closed ? close : undefined);
  }

  /** The innermost reason why the value is wrong, or null. */
  problemOf(schema: Schema, value: unknown): string | null {
    const { valid, errors } = this.#validatorOf(schema).validate(value);
    if (valid) return null;
    const last = errors.at(-1);
    return `${last?.instanceLocation} ${last?.error} (${last?.keywordLocation})`;
  }

  #validatorOf(schema: Schema): Validator {
    const key = JSON.stringify(schema);
    const known = this.#validators.get(key);
    if (known) return known;
    const whole = JSON.stringify({ ...schema, $defs: this.#definitions });
    const local = JSON.parse(whole.replaceAll(COMPONENTS, '#/$defs/')) as CheckedSchema;
    const validator = new Validator(local, '2020-12');
    this.#validators.set(key, validator);
    return validator;
  }
}

/** Closes only schemas that list their fields. */
function close(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const isOpen = 'properties' in value && 'type' in value && !('additionalProperties' in value);
  return isOpen ? { ...value, additionalProperties: false } : value;
}

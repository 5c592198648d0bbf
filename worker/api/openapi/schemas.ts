/** Turns the zod schemas into the named JSON Schemas of the OpenAPI document. */
import * as z from 'zod';
import type { named } from '../../../shared/named.ts';
import type { JsonSchema } from '../../endpoint.ts';

/** The place of named schemas in the document. */
const COMPONENTS = '#/components/schemas/';

/** Schemas by their names in the document. */
export class SchemaBook {
  readonly #registry: typeof named;

  constructor(registry: typeof named) {
    this.#registry = registry;
  }

  /** A reference to a named schema. Throws if the schema has no name. */
  refTo(schema: z.core.$ZodType): JsonSchema {
    const name = this.#registry.get(schema)?.id;
    if (name !== undefined) return { $ref: COMPONENTS + name };
    throw new Error(`shared/named.ts has no name for ${JSON.stringify(this.schemaOf(schema))}`);
  }

  /** A reference if the schema has a name, else the schema itself without any reference in it. */
  schemaOf(schema: z.core.$ZodType): JsonSchema {
    if (this.#registry.has(schema)) return this.refTo(schema);
    const { $schema: _, ...json } = z.toJSONSchema(schema, CONVERSION);
    return json;
  }

  /** All named schemas, in their input form: answers have no transforms and no defaults, and may get more fields. */
  components(): Record<string, JsonSchema> {
    const { schemas } = z.toJSONSchema(this.#registry, {
      ...CONVERSION,
      uri: (name) => COMPONENTS + name,
    });
    const components: Record<string, JsonSchema> = {};
    for (const [name, { $schema: _, $id: __, ...schema }] of Object.entries(schemas)) {
      components[name] = schema;
    }
    return mapDiscriminators(components);
  }
}

/** Adds each `discriminator`. {@link mapDiscriminators} completes it when the names of the options are known. */
const CONVERSION: z.core.ToJSONSchemaParams = {
  io: 'input',
  override({ zodSchema, jsonSchema }) {
    const { def } = zodSchema._zod;
    if (def.type === 'union' && 'discriminator' in def) {
      jsonSchema['discriminator'] = { propertyName: def.discriminator };
    }
  },
};

/** Completes each `discriminator`. Removes it if an option has no name: OpenAPI maps values to named schemas only. */
function mapDiscriminators(components: Record<string, JsonSchema>): Record<string, JsonSchema> {
  return JSON.parse(JSON.stringify(components), (_, value) => {
    if (!isDiscriminated(value)) return value;
    const { discriminator, ...union } = value;
    const mapping = mappingOf(union.oneOf, discriminator.propertyName, components);
    return mapping ? { ...union, discriminator: { ...discriminator, mapping } } : union;
  });
}

interface Discriminated {
  readonly oneOf: readonly JsonSchema[];
  readonly discriminator: { readonly propertyName: string };
}

function isDiscriminated(value: unknown): value is Discriminated {
  return (
    typeof value === 'object' && value !== null && 'discriminator' in value && 'oneOf' in value
  );
}

/** Undefined if an option has no name. */
function mappingOf(
  options: readonly JsonSchema[],
  property: string,
  components: Readonly<Record<string, JsonSchema>>,
): Record<string, string> | undefined {
  const mapping: Record<string, string> = {};
  for (const { $ref } of options) {
    const option = $ref === undefined ? undefined : components[$ref.slice(COMPONENTS.length)];
    const value = option?.properties?.[property];
    if ($ref === undefined || typeof value !== 'object' || typeof value.const !== 'string') {
      return undefined;
    }
    mapping[value.const] = $ref;
  }
  return mapping;
}

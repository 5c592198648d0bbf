/** Makes values that a schema allows, and lists every place in them that could be wrong. */
import { type Description, resolve, type Schema } from './description.ts';
import type { Random } from './random.ts';
import type { Ids } from './world.ts';

/** A place in a sampled value, from the whole value inwards. */
export interface Place {
  readonly path: readonly (string | number)[];
  readonly schema: Schema;
}

export interface Sample {
  readonly value: unknown;
  readonly places: readonly Place[];
}

/** Names for members of an object with free names: names of tools, and names that every object inherits. */
const NAMES = ['read_file', 'read_file', 'ReadFile', 'format_disk', 'constructor', 'toString', ''];

/** The depth to which optional members are made. */
const MAX_DEPTH = 6;

export interface Sampling {
  readonly random: Random;
  /** The values of these ids; any other id is made as text. */
  readonly ids: Partial<Ids>;
  /** The share of the optional members to make, from 0 to 1. */
  readonly fullness: number;
  /** A member of the whole value that is always made. */
  readonly wanted?: string | undefined;
}

export function sampleOf(
  description: Pick<Description, 'components'>,
  schema: Schema,
  { random, ids, fullness, wanted }: Sampling,
): Sample {
  const places: Place[] = [];
  return { value: sample(schema, []), places };

  function sample(given: Schema, path: Place['path']): unknown {
    const id = idOf(given);
    if (id !== undefined) {
      places.push({ path, schema: resolve(description, given) });
      return id;
    }
    const schema = resolve(description, given);
    const forms = schema.oneOf ?? schema.anyOf;
    if (forms) return sample(random.pick(forms), path);
    places.push({ path, schema });
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return random.pick(schema.enum);
    return sampleOfType(schema, path);
  }

  function sampleOfType(schema: Schema, path: Place['path']): unknown {
    const { type = 'string' } = schema;
    switch (typeof type === 'string' ? type : random.pick(type)) {
      case 'object':
        return sampleObject(schema, path);
      case 'array':
        return sampleArray(schema, path);
      case 'integer':
      case 'number':
        return (schema.minimum ?? 0) + random.below(Math.min(100, (schema.maximum ?? 100) + 1));
      case 'boolean':
        return random.chance(0.5);
      case 'null':
        return null;
      default:
        return sampleString(schema, random);
    }
  }

  function sampleObject(schema: Schema, path: Place['path']): unknown {
    const value: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(schema.properties ?? {})) {
      const isWanted = path.length === 0 && name === wanted;
      const isRequired = schema.required?.includes(name) ?? false;
      if (isWanted || isRequired || (path.length < MAX_DEPTH && random.chance(fullness))) {
        value[name] = sample(member, [...path, name]);
      }
    }
    const { additionalProperties: more } = schema;
    if (typeof more !== 'object') return value;
    const name = random.pick(NAMES);
    const named = { [name]: sample(more, [...path, name]) };
    return { ...value, ...named };
  }

  function sampleArray({ items = {}, minItems = 0, maxItems = 3 }: Schema, path: Place['path']) {
    const length = Math.max(minItems, random.below(Math.min(maxItems, 3) + 1));
    return Array.from({ length }, (_, index) => sample(items, [...path, index]));
  }

  function idOf({ $ref = '' }: Schema): string | undefined {
    return Object.entries(ids).find(([name]) => $ref.endsWith(`/${name}`))?.[1];
  }
}

/** Texts that match the patterns of the API. */
const FORMS = [
  'go',
  '1',
  'c2ln',
  'https://example.com/a.png',
  '2026-11-01T09:30:00.000Z',
  'https://ntfy.sh/a-topic',
  'tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2',
];

function sampleString({ pattern, minLength = 0 }: Schema, random: Random): string {
  if (pattern === undefined) return 'go on, please'.slice(0, Math.max(minLength, random.below(14)));
  return FORMS.find((form) => new RegExp(pattern).test(form)) ?? 'go';
}

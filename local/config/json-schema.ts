/** The JSON Schema of config.json, for editors. docs/config.schema.json is the same. */
import * as z from 'zod';
import { Config } from './schema.ts';

/** The name of the schema's file, which is kept beside config.json. */
export const SCHEMA_FILE = 'config.schema.json';

/** The text of the schema's file. */
export function configSchemaText(): string {
  const schema = z.toJSONSchema(Config, { io: 'input', target: 'draft-7' });
  return `${JSON.stringify({ title: 'Configuration of Drawbridge', ...schema }, null, 2)}\n`;
}

/** The names of the fields at a place of the configuration. None where the place has no fixed fields. */
export function fieldsAt(path: readonly PropertyKey[]): string[] {
  return Object.keys(shapeAt(path)?.properties ?? {});
}

export function isListAt(path: readonly PropertyKey[]): boolean {
  return shapeAt(path)?.items !== undefined;
}

function shapeAt(path: readonly PropertyKey[]): SchemaShape | undefined {
  let place: SchemaShape | undefined = shape();
  for (const key of path)
    place = typeof key === 'number' ? place?.items : place?.properties?.[String(key)];
  return place;
}

/** Every place of the configuration by its dotted name, without the fields of lists. */
export function dottedFields(): string[] {
  const walk = (at: SchemaShape, before: string): string[] =>
    Object.entries(at.properties ?? {}).flatMap(([name, inner]) => [
      `${before}${name}`,
      ...walk(inner, `${before}${name}.`),
    ]);
  return walk(shape(), '').filter((name) => name !== '$schema');
}

interface SchemaShape {
  readonly properties?: Readonly<Record<string, SchemaShape>>;
  readonly items?: SchemaShape;
}

function shape(): SchemaShape {
  return z.toJSONSchema(Config, { io: 'input' }) as SchemaShape;
}

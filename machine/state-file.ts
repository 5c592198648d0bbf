/** Reads JSON files of the state folder, and checks them at every reading. */

import type * as z from 'zod';
import { LocalError } from './local-error.ts';
import { readIfThere, readOrCreate } from './private-files.ts';

/** The checked value of the file. Without a file, `make` makes it. @throws {LocalError} that names a damaged file. */
export async function openStateFile<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
  make: () => z.infer<Schema> | Promise<z.infer<Schema>>,
): Promise<z.infer<Schema>> {
  return parse(path, schema, await readOrCreate(path, async () => JSON.stringify(await make())));
}

/** The same, but creates nothing: undefined without a file. */
export async function readStateFile<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
): Promise<z.infer<Schema> | undefined> {
  const text = await readIfThere(path);
  return text === undefined ? undefined : parse(path, schema, text);
}

function parse<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
  text: string,
): z.infer<Schema> {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    const todo = 'repair it, or remove it so that Drawbridge makes a new one';
    throw new LocalError('refused', `${path} is damaged: ${todo}.`, { cause });
  }
}

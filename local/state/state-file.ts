/** Reads a JSON file of the state folder: makes it on first use, and checks it at every reading. */

import type * as z from 'zod';
import { LocalError } from '../../machine/local-error.ts';
import { readOrCreate } from '../../machine/private-files.ts';

/** The checked value of the file. Without a file, `make` makes it. @throws {LocalError} that names a damaged file. */
export async function openStateFile<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
  make: () => z.infer<Schema> | Promise<z.infer<Schema>>,
): Promise<z.infer<Schema>> {
  const text = await readOrCreate(path, async () => JSON.stringify(await make()));
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new LocalError(
      'refused',
      `${path} is damaged: repair it, or remove it so that Drawbridge makes a new one.`,
      {
        cause: error,
      },
    );
  }
}

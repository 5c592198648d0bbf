/** A JSON file of the state folder: made on first use, checked whenever it is read. */

import type * as z from 'zod';
import { LocalError } from '../../machine/local-error.ts';
import { readOrCreate } from '../../machine/private-files.ts';

/** The checked value of the file; without one, `make` gives it. @throws {LocalError} that names a damaged file. */
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
      `${path} is damaged: mend it, or remove it to have a new one made.`,
      {
        cause: error,
      },
    );
  }
}

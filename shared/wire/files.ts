/** The search for files of a bridge's workspace by a part of their paths, for a person who writes a mention. */
import * as z from 'zod';
import { FILE_SEARCH_LIMITS, REQUEST_LIMITS } from '../limits.ts';
import { named } from '../named.ts';

const { maxQueryChars, defaultItems, maxItems } = FILE_SEARCH_LIMITS;

/** The query of `GET bridges/{id}/files`. An empty `query` finds what is open or was changed last. */
export const FileQuery = z.object({
  query: z.string().max(maxQueryChars).default(''),
  limit: z.coerce.number().int().min(1).max(maxItems).default(defaultItems),
});
export type FileQuery = z.infer<typeof FileQuery>;

export const FoundFile = z.object({
  /** Relative to the workspace. A folder's path ends with `/`. */
  path: z.string().min(1).max(REQUEST_LIMITS.maxPathChars),
  /** `rule`: a file that may be a rule for the model. */
  type: z.enum(['file', 'folder', 'rule']),
});
named.add(FoundFile, { id: 'FoundFile' });
export type FoundFile = z.infer<typeof FoundFile>;

/** The best match comes first. */
export const FoundFiles = z.object({ items: z.array(FoundFile).max(maxItems) });
named.add(FoundFiles, { id: 'FoundFiles' });
export type FoundFiles = z.infer<typeof FoundFiles>;

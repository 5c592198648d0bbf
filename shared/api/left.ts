/** What an own server asks its Worker about files that deleted accounts may have left behind: `operator/left`. */
import * as z from 'zod';
import { LEFT_LIMITS } from '../limits.ts';
import { named } from '../named.ts';

/** The id of an object, which is the name of its file. */
const ObjectId = z.string().regex(/^[0-9a-f]{64}$/);

const Page = z.array(ObjectId).max(LEFT_LIMITS.maxObjects).default([]);

/** `POST operator/left`: conversations and bridges, by the ids of their objects. */
export const LeftQuery = z.strictObject({ conversations: Page, bridges: Page });
named.add(LeftQuery, { id: 'LeftQuery' });
export type LeftQuery = z.infer<typeof LeftQuery>;

/** `deletions`: grows with each account that is deleted; 0 before the first one. `left`: how many were given to deletion. */
export const LeftReport = z.object({
  deletions: z.int().nonnegative(),
  left: z.int().nonnegative(),
});
named.add(LeftReport, { id: 'LeftReport' });
export type LeftReport = z.infer<typeof LeftReport>;

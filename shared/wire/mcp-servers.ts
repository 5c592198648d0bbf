/** The MCP servers of a bridge as people see them. The bridge cuts every text; nothing here is for the model. */
import * as z from 'zod';
import { MCP_REPORT_LIMITS } from '../limits.ts';

const { maxServers, maxEntries, maxTextChars, maxChars } = MCP_REPORT_LIMITS;
const Text = z.string().max(maxTextChars);

export const McpServerReport = z.object({
  name: Text,
  state: z.enum(['starting', 'ready', 'down']),
  /** One sentence; only for a server that is down. */
  reason: Text.optional(),
  /** Of a server that is down: its owner has disabled it, or must log in there. */
  why: z.enum(['disabled', 'login']).optional(),
  /** The server's own name and version; only for one that is ready. */
  about: Text.optional(),
  /** The number of tools that it lists. */
  toolCount: z.int().nonnegative(),
  /** How many of its tools are not offered, because models take only so many; absent if all are. */
  cutCount: z.int().positive().optional(),
  /** What the agent can read, as far as the report has room. */
  resources: z.array(z.object({ uri: Text, name: Text })).max(maxEntries),
  resourceCount: z.int().nonnegative(),
  /** Prompts that the agent can get, as far as the report has room. */
  prompts: z.array(z.object({ name: Text, title: Text.optional() })).max(maxEntries),
  promptCount: z.int().nonnegative(),
});
export type McpServerReport = z.infer<typeof McpServerReport>;

/** In the order of the owner's list. */
export const McpServerReports = z
  .array(McpServerReport)
  .max(maxServers)
  .refine((reports) => JSON.stringify(reports).length <= maxChars, { error: 'they are too large' });

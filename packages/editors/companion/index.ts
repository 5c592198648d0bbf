/** The companion: what the bridge and editor plugins use. docs/companion.md shows a plugin. */

export { SentContext } from './context.ts';
export type { DiffOutcome } from './diffs.ts';
export { removeLeftover } from './discovery.ts';
export { CompanionServer, type OwnCompanionOptions } from './server.ts';
export type { ProposedDiff } from './session.ts';

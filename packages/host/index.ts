/** What the bridge and its packages agree on: tools, edits on their way to a proposal, ways to ask, and frames to the edge. */
export type { AnswerEntry, Asker, OpenQuestion, Resolution } from './asker.ts';
export { toProposed } from './edit-proposal.ts';
export { type EditShape, unshaped } from './edit-shape.ts';
export { type Feed, OfferFeed, ReportFeed } from './feeds.ts';
export type { GuestCalls } from './guest-calls.ts';
export { type LedgerFile, ReadLedger } from './ledger.ts';
export { type OfferedTool, Offers } from './offers.ts';
export {
  type ArgumentsOf,
  type BridgeTool,
  bindTool,
  doing,
  type FileChange,
  type PersonsAnswer,
  type Proposed,
  parseArguments,
  type ReadCall,
  type ResolvedPaths,
  type ServerQuestion,
  type ToolContext,
  type ToolExecutor,
  type ToolFactsHere,
  type ToolWork,
  toErrorResult,
  toWrite,
  whyAsked,
} from './tool.ts';

/** Subagents as the conversation shows them that started them: what each does, and what it asks a person. */
import * as z from 'zod';
import { ConversationId } from '../ids.ts';
import { OpenApproval, OpenQuestions } from './approvals.ts';
import { ResponseStatus } from './documents.ts';

/** `metadata.subagent` of the `tool_call` that started a subagent. */
export const SubagentState = z.object({
  /** The subagent's own conversation: it can be read and followed. Absent in a fork, which has only the result. */
  conversationId: ConversationId.optional(),
  type: z.string(),
  model: z.string(),
  status: ResponseStatus,
  /** Answers of models, and calls of tools, so far: its own and those of the subagents below it. */
  turnCount: z.int().nonnegative(),
  toolCallCount: z.int().nonnegative(),
  /** The tools of its newest turn, as text for people. Absent before the first call. */
  activity: z.string().optional(),
});
export type SubagentState = z.infer<typeof SubagentState>;

/** A subagent's question to a person. The answer goes to `conversationId`. */
export const SubagentAsk = z.discriminatedUnion('kind', [
  OpenApproval.extend({ kind: z.literal('approval') }),
  OpenQuestions.extend({ kind: z.literal('clarification') }),
]);
export type SubagentAsk = z.infer<typeof SubagentAsk>;

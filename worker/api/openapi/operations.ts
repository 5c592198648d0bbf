/** The table of operations: one for every route of the Worker. */
import { ACCOUNT_OPERATIONS } from '../account-operations.ts';
import { ANSWER_OPERATIONS } from '../answer-operations.ts';
import { CHAT_OPERATIONS } from '../chat-operations.ts';
import { CONVERSATION_OPERATIONS } from '../conversation-operations.ts';
import type { Operation } from '../operation.ts';
import { OPENAI_OPERATIONS } from './openai-operations.ts';

export const OPERATIONS: readonly Operation[] = [
  ...CHAT_OPERATIONS,
  ...CONVERSATION_OPERATIONS,
  ...ANSWER_OPERATIONS,
  ...ACCOUNT_OPERATIONS,
  ...OPENAI_OPERATIONS,
];

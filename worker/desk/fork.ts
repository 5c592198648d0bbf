/** Forks a conversation at the end of a response, with the files as they are or as they were then. */
import { ChatRequest } from '../../shared/api/requests.ts';
import { responseIdOf } from '../../shared/ids.ts';
import { forkConversation } from '../conversation/fork/fork.ts';
import type { Env } from '../env.ts';
import { conversationOf } from '../objects.ts';
import { type Outcome, unwrap } from '../outcome.ts';
import { reach } from '../reach.ts';
import { newIdFor, type Sending, type Submitted, submitMessage } from './accept.ts';

/** The response at whose end the fork is made, and how the request was sent. */
export interface ForkSending extends Pick<Sending, 'account' | 'trace' | 'idempotencyKey'> {
  readonly from: string;
  readonly ordinal: number;
}

/** Leaves the files alone. The same key with the same response leads to the same fork. Returns its id. */
export async function forkKeeping(
  env: Env,
  { account, from, ordinal, idempotencyKey: key }: ForkSending,
): Promise<string> {
  const named = key && `${key}\n${responseIdOf(from, ordinal)}`;
  const conversationId = await newIdFor(account, named);
  const to = { account, conversationId };
  await reach(() => forkConversation(env, to, { from, ordinal, through: true }));
  return conversationId;
}

/**
 * Makes the fork, and begins a response there that takes back what later responses changed in files. After a crash
 * between the two, a request with the same key finds the fork and begins the response.
 * @throws {DrawbridgeError} CONVERSATION_BUSY and UNAVAILABLE (the bridge is offline) before the fork exists.
 */
export async function forkRestoring(
  env: Env,
  { from, ordinal, ...sending }: ForkSending,
  digest: string | undefined,
): Promise<Submitted> {
  const caller = { account: sending.account, conversationId: from };
  const ask = () => conversationOf(env, caller).worktreeOf(caller);
  const worktree = unwrap(await reach<Outcome<string | null>>(ask));
  return await submitMessage(env, {
    ...sending,
    request: ChatRequest.parse({ messages: [WISH], delivery: 'reject' }),
    forkOf: { from, ordinal, worktree },
    errand: {
      type: 'undo',
      undo: { scope: 'since', id: responseIdOf(from, ordinal + 1), digest, preview: false },
    },
  });
}

/** The message that the fork's first response answers. Its model reads it. */
const WISH = {
  role: 'user',
  content: 'Restore the files as they were at this point of the conversation.',
} as const;

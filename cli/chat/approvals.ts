/** Approvals: questions of the bridge, answered with this machine's signature. */
import { type Device, signApproval } from '../../client/device.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import type { ApprovalRequest } from '../../shared/requests.ts';
import { consequenceOf } from '../../shared/tools/catalogue.ts';
import type { ApprovalEvent } from '../render/catch-up.ts';
import { type Chat, sayUnlessCounted } from './chat.ts';

/**
 * Asks until the answer is clear, and sends it; or tells where else it can be answered. The answer is to this question,
 * which is on the screen: one that has taken its place meanwhile is asked on its own.
 */
export async function askApproval(
  chat: Chat,
  question: ApprovalEvent,
  signal: AbortSignal,
): Promise<void> {
  const { terminal, device } = chat;
  const say = (words: string) => terminal.write(`${terminal.paint('yellow', words)}\n`);
  if (!device) return say(NO_KEY);
  const answer = await askUntilClear(chat, question, signal);
  if (answer) await sayUnlessCounted(chat, () => send(chat, question, answer, device));
  else if (!signal.aborted) say(UNANSWERED);
}

async function askUntilClear(
  { terminal }: Chat,
  { proposal }: ApprovalEvent,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  const yes = `y ${consequenceOf(proposal.tool)}, this once`;
  while (true) {
    const text = await terminal.ask(`Allow it? ${yes}; n and why rejects it: `, signal);
    if (text === undefined) return undefined;
    const answer = parseAnswer(text);
    if (answer) return answer;
  }
}

async function send(
  { client, conversationId = '' }: Chat,
  question: ApprovalEvent,
  answer: Answer,
  device: Device,
): Promise<void> {
  const { callId, nonce } = question;
  const signed = { ...question, conversationId };
  const signature =
    answer.decision === 'once' ? { signature: await signApproval(device, signed) } : {};
  await client.answerApproval(conversationId, callId, { nonce, ...answer, ...signature });
}

const UNANSWERED =
  'Answer it at the terminal where the bridge asks or on an enrolled device. Ctrl-C cancels the run.';
const NO_KEY =
  'This machine has no key that the bridge knows. Answer it where the bridge runs or on an enrolled device. ' +
  'Ctrl-C cancels the run.';

type Answer = Pick<ApprovalRequest, 'decision' | 'message'>;

/** `y`, `yes`, `n`, `no`, and after a no the reason. Null for anything else: nobody says yes by accident. */
export function parseAnswer(text: string): Answer | null {
  if (/^\s*y(?:es)?\s*$/i.test(text)) return { decision: 'once' };
  const no = /^\s*no?(?:$|[\s,:;.-]+(.*))$/is.exec(text);
  if (!no) return null;
  const message = no[1]?.trim().slice(0, REQUEST_LIMITS.maxReasonChars);
  return { decision: 'reject', ...(message && { message }) };
}

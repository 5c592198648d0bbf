/** Asks the person for the approvals that the bridge needs, and signs a yes with this machine's key. */
import { type Device, isNewText } from '../../client/index.ts';
import { askForm } from '../../machine/ask-form.ts';
import { askPatterns, patternQuestion } from '../../machine/ask-patterns.ts';
import {
  narrowPattern,
  parseAnswer,
  type TypedAnswer,
  yesWords,
} from '../../shared/shown/proposal.ts';
import type { Lasting } from '../../shared/wire/approvals.ts';
import type { ApprovalEvent } from '../render/catch-up.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { askForChangedFile } from './changed-file.ts';
import { type Chat, sayUnlessCounted } from './chat.ts';

/**
 * Asks until the answer is clear and sends it. Without a key or without an answer, says where else the person can
 * answer. The answer counts only for this question, which is on the screen: a question that replaces it is asked anew.
 * `refused` means that the server did not take the answer, and `open` that there was none. `onAnswer` is called before
 * the answer is sent: the event that it leads to can be quicker than the reply.
 */
export async function askApproval(
  chat: ApprovalDesk,
  question: ApprovalAsk,
  signal: AbortSignal,
  onAnswer: () => void = () => {},
): Promise<'sent' | 'refused' | 'open'> {
  const { terminal, device } = chat;
  const say = (words: string) => terminal.write(`${terminal.paint('yellow', words)}\n`);
  const answer = device && (await askUntilClear(chat, question, signal));
  if (answer) {
    onAnswer();
    const isTaken = await sayUnlessCounted(chat, () => sendReply(chat, question, answer, device));
    return isTaken ? 'sent' : 'refused';
  }
  if (!device) say(noKey());
  else if (!signal.aborted) say(UNANSWERED);
  return 'open';
}

/** Where the person is asked, and what signs. */
export type ApprovalDesk = Pick<Chat, 'client' | 'device' | 'terminal' | 'conversationId' | 'own'>;

type ApprovalAsk = Pick<
  ApprovalEvent,
  'callId' | 'bridgeId' | 'nonce' | 'proposal' | 'newText' | 'lasting'
>;

async function askUntilClear(
  chat: ApprovalDesk,
  question: ApprovalAsk,
  signal: AbortSignal,
): Promise<ApprovalReply | undefined> {
  const { terminal } = chat;
  const { proposal, newText } = question;
  const lasting = lastingOf(chat, question);
  const choices = { canLast: lasting !== undefined, canBeAlways: lasting?.always === true };
  const file = await changeable(proposal, newText);
  const yes = yesWords(proposal, lasting);
  const change = file ? '; e lets you change it first' : '';
  while (true) {
    const text = await terminal.ask(
      `Allow it? ${yes}${change}; n rejects it, and a reason may follow: `,
      signal,
    );
    if (text === undefined) return undefined;
    const answer = parseAnswer(text, choices);
    if (answer?.scope !== undefined && lasting) {
      const chosen = await askPatterns(
        (asked) => terminal.ask(patternQuestion(asked), signal),
        proposal,
        lasting.pattern,
      );
      return chosen === undefined ? undefined : { ...answer, pattern: chosen };
    }
    if (answer?.decision === 'once' && proposal.kind === 'elicitation') {
      const ask = (words: string) => terminal.ask(words, signal);
      const say = (line: string) => terminal.write(`${line}\n`);
      const content = await askForm({ ask, say }, proposal.fields);
      return content === undefined ? undefined : { ...answer, content };
    }
    if (answer) return answer;
    if (!file || text.trim().toLowerCase() !== 'e') continue;
    const content = await askForChangedFile(terminal, file, signal);
    if (content !== undefined) return { decision: 'once', content };
  }
}

/** How a yes can last here: undefined where only a yes for once counts. The bridge of this folder always takes `always`. */
export function lastingOf(
  { own }: Pick<ApprovalDesk, 'own'>,
  { proposal, lasting, bridgeId }: Pick<ApprovalAsk, 'proposal' | 'lasting' | 'bridgeId'>,
): Lasting | undefined {
  const pattern = narrowPattern(proposal, lasting);
  const always = own?.bridgeId === bridgeId || lasting?.always === true;
  return pattern === undefined ? undefined : { pattern, always };
}

/** The proposed file; undefined where it is not known, or where the server has sent another one. */
async function changeable(
  proposal: ApprovalAsk['proposal'],
  newText: string | undefined,
): Promise<{ readonly path: string; readonly text: string } | undefined> {
  if (proposal.kind !== 'edit' || newText === undefined) return undefined;
  return (await isNewText(proposal, newText)) ? { path: proposal.path, text: newText } : undefined;
}

/** Sends the answer to this very question. A yes needs the device; a no does not. Rejects with a ClientError. */
export async function sendReply(
  { client, conversationId = '' }: Pick<ApprovalDesk, 'client' | 'conversationId'>,
  question: Omit<ApprovalAsk, 'newText' | 'lasting'>,
  { decision, message, ...choice }: ApprovalReply,
  device: Device | null,
): Promise<void> {
  const asked = { ...question, conversationId };
  if (decision === 'reject') return await client.rejectCall(asked, { message });
  if (!device) throw new Error('A yes was chosen without a key to sign it');
  await client.allowCall(asked, device, choice);
}

const UNANSWERED =
  "The question is still open. Answer it in the bridge's terminal or on an enrolled device. " +
  'Ctrl-C cancels the answer.';
const noKey = () =>
  "This machine is not enrolled at the bridge. Answer the question in the bridge's terminal or on an enrolled " +
  `device; \`${ownCommand('devices', 'show')}\` says how to enrol this machine. Ctrl-C cancels the answer.`;

/** An answer with all that is signed or sent beside it. */
export interface ApprovalReply extends TypedAnswer {
  /** Of a yes that lasts. */
  readonly pattern?: string;
  /** The file as the person changed it, or the values of a form. */
  readonly content?: string;
}

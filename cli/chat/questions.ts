/** Asks the person the questions of one turn, one after the other. */
import type { ReadEvent } from '../../shared/wire/events.ts';
import { askKeyOf } from '../../shared/wire/fold.ts';
import { SubagentAsk } from '../../shared/wire/subagents.ts';
import { decideApproval, sendReply, withOwnText } from '../questions/approval.ts';
import { askQuestions } from '../questions/clarification.ts';
import { Withdrawn } from '../questions/steps.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { type Chat, sayUnlessCounted, sayWhereToAnswer } from './chat.ts';
import { prompterByLines } from './lines.ts';

/** Asks only for the answers: the screen already shows the questions. */
export class Questions {
  readonly #chat: Chat;
  /** Those that wait, with what withdraws each. */
  readonly #open = new Map<string, AbortController>();
  /** The calls that were answered here. */
  readonly #answered = new Set<string>();
  #asked: Promise<void> = Promise.resolve();

  constructor(chat: Chat) {
    this.#chat = chat;
  }

  /** `asks`: all that waits now. One that waits no more is withdrawn; a new one is asked after the ones before it. */
  update(asks: readonly SubagentAsk[]): void {
    const waiting = new Map(asks.map((ask) => [askKeyOf(ask), ask]));
    for (const [key, withdrawn] of this.#open) {
      if (waiting.has(key)) continue;
      withdrawn.abort();
      this.#open.delete(key);
    }
    for (const [key, ask] of waiting) {
      if (this.#open.has(key)) continue;
      const withdrawn = new AbortController();
      this.#open.set(key, withdrawn);
      // A snapshot has the questions of subagents as the server sent them.
      const asked = SubagentAsk.safeParse(ask).data;
      if (asked) this.#asked = this.#asked.then(() => this.#ask(asked, withdrawn.signal));
    }
  }

  /** The event as this terminal shows it: an answer that was given here comes from here. */
  placed(event: ReadEvent): ReadEvent {
    const isHere = event.type === 'approval_resolved' && this.#answered.has(event.callId);
    return isHere && event.by === 'device' ? { ...event, by: 'here' } : event;
  }

  /** Asks nothing more of what waits now. */
  withdrawAll(): void {
    for (const withdrawn of this.#open.values()) withdrawn.abort();
  }

  /** Withdraws all open questions, and waits until the terminal is free again. */
  async end(): Promise<void> {
    this.withdrawAll();
    await this.#asked;
  }

  async #ask(ask: SubagentAsk, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const onAnswer = () => ask.kind === 'approval' && this.#answered.add(ask.callId);
    const answered = await answerByLines(this.#chat, ask, signal, onAnswer);
    if (answered !== 'open' || signal.aborted || ask.kind === 'approval') return;
    sayWhereToAnswer({ ...this.#chat, conversationId: ask.conversationId });
  }
}

/** Where the person is asked by lines. */
export type QuestionDesk = Pick<Chat, 'client' | 'device' | 'terminal' | 'conversationId' | 'own'>;

/**
 * Asks until the answer is clear and sends it, to the conversation that asks. `refused` means that the server did not
 * take it, and `open` that there was none. `onAnswer` is called before the answer is sent: the event that it leads to
 * can be quicker than the reply.
 */
export async function answerByLines(
  desk: QuestionDesk,
  ask: SubagentAsk,
  signal: AbortSignal,
  onAnswer: () => void = () => {},
): Promise<'sent' | 'refused' | 'open'> {
  const { terminal, device } = desk;
  const say = (words: string) => terminal.write(`${terminal.paint('yellow', words)}\n`);
  if (ask.kind === 'approval' && !device) {
    say(noKey());
    return 'open';
  }
  let send: () => Promise<void>;
  try {
    send = await askToSend(desk, ask, signal);
  } catch (error) {
    if (!(error instanceof Withdrawn)) throw error;
    if (ask.kind === 'approval' && !signal.aborted) say(UNANSWERED);
    return 'open';
  }
  onAnswer();
  return (await sayUnlessCounted(desk, send)) ? 'sent' : 'refused';
}

/** Returns what sends the answer. @throws {Withdrawn} */
async function askToSend(
  desk: QuestionDesk,
  ask: SubagentAsk,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const { client, device, terminal } = desk;
  const prompter = prompterByLines(terminal, signal);
  if (ask.kind === 'approval') {
    const reply = await decideApproval(prompter, await withOwnText(ask), desk);
    return () => sendReply(client, ask, reply, device);
  }
  const { questions, conversationId, documentId, responseId } = ask;
  const answers = await askQuestions(prompter, questions);
  // A turn's own questions are answered in its response alone.
  const body = conversationId === desk.conversationId ? { answers } : { answers, responseId };
  return () => client.answerClarification(conversationId, documentId, body);
}

const UNANSWERED =
  "The question is still open. Answer it in the bridge's terminal or on an enrolled device. " +
  'Ctrl-C cancels the answer.';
const noKey = () =>
  "This machine is not enrolled at the bridge. Answer the question in the bridge's terminal or on an enrolled " +
  `device; \`${ownCommand('devices', 'show')}\` says how to enrol this machine. Ctrl-C cancels the answer.`;

/** Asks the person at the editor what waits, and signs a yes with this machine's key. */
import type {
  AgentContext,
  PermissionOption,
  SessionUpdate,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import { type Answer, ClientError, type Question } from '../../client/index.ts';
import { lastingWords } from '../../shared/shown/proposal.ts';
import { inOneLine, inPlainSight } from '../../shared/text/plain-sight.ts';
import type { Lasting, Proposal } from '../../shared/wire/approvals.ts';
import { readForm } from '../../shared/wire/elicitation.ts';
import { askKeyOf } from '../../shared/wire/fold.ts';
import type { SubagentAsk } from '../../shared/wire/subagents.ts';
import type { Chat } from '../chat/chat.ts';
import { insist } from '../chat/session.ts';
import { type ApprovalReply, lastingOf, sendReply } from '../questions/approval.ts';
import { complain, describeError } from '../terminal/failure-text.ts';
import { answersIn, FormContent, formOf, formOfQuestions } from './forms.ts';
import { proposedCall, toolCallIdOf } from './tool-calls.ts';

type EditorApproval = Extract<SubagentAsk, { kind: 'approval' }>;
type Clarification = Extract<SubagentAsk, { kind: 'clarification' }>;

/** Where a person is asked. */
export interface AskDesk {
  readonly sessionId: string;
  readonly chat: Pick<Chat, 'client' | 'device' | 'own'>;
  readonly editor: AgentContext;
  /** Whether the editor shows forms. */
  readonly hasForms: boolean;
  /** The workspace. */
  readonly folder: string;
  show(update: SessionUpdate): void;
  /** Says something to the person outside of the answer. */
  say(words: string): void;
}

/** The questions that the editor shows. One that is answered elsewhere, or waits no more, is taken back. */
export class EditorAsks {
  readonly #desk: AskDesk;
  readonly #open = new Map<string, AbortController>();
  readonly #confirming = new Set<AbortController>();

  constructor(desk: AskDesk) {
    this.#desk = desk;
  }

  /** `asks`: all that waits now. */
  update(asks: readonly SubagentAsk[]): void {
    const waiting = new Map(asks.map((ask) => [askKeyOf(ask), ask]));
    for (const [key, open] of this.#open) {
      if (waiting.has(key)) continue;
      open.abort();
      this.#open.delete(key);
    }
    for (const [key, ask] of waiting) {
      if (this.#open.has(key)) continue;
      const open = new AbortController();
      this.#open.set(key, open);
      void this.#ask(ask, open.signal);
    }
  }

  /** Whether the person says yes to `words`, and to `details`, which the editor shows below them. */
  async confirm(words: string, details?: string): Promise<boolean> {
    const open = new AbortController();
    const toolCallId = crypto.randomUUID();
    const call = { toolCallId, title: words, kind: 'edit' as const };
    this.#confirming.add(open);
    this.#desk.show({ sessionUpdate: 'tool_call', ...call, status: 'pending' });
    const chosen = await this.#choose(
      { ...call, ...(details !== undefined && { content: [textContent(details)] }) },
      [YES, NO],
      open.signal,
    ).catch(() => NO.optionId);
    const isYes = chosen === YES.optionId;
    const status = isYes ? 'completed' : 'failed';
    this.#desk.show({ sessionUpdate: 'tool_call_update', toolCallId, status });
    this.#confirming.delete(open);
    return isYes;
  }

  /** Takes all questions back. They stay open for other devices, and are not asked again here. */
  withdraw(): void {
    for (const open of [...this.#open.values(), ...this.#confirming]) open.abort();
  }

  /** Never rejects: a question that the editor cannot show is still open elsewhere. */
  async #ask(ask: SubagentAsk, signal: AbortSignal): Promise<void> {
    const { show, sessionId } = this.#desk;
    const toolCallId = toolCallIdOf(ask.responseId, ask.documentId);
    const isBelow = ask.conversationId !== sessionId;
    if (isBelow) show({ sessionUpdate: 'tool_call', toolCallId, ...this.#titled(ask) });
    try {
      if (ask.kind === 'approval') await this.#approve(ask, signal);
      else await this.#answer(ask, signal);
    } catch (error) {
      if (!signal.aborted) this.#tellFailure(error);
    } finally {
      if (isBelow) show({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' });
    }
  }

  /** A subagent's call, which the editor does not have. */
  #titled(ask: SubagentAsk) {
    const of = `Subagent ${inOneLine(ask.title)}`;
    if (ask.kind !== 'approval') return { title: `${of} asks you` };
    const call = proposedCall(ask.proposal, this.#desk.folder);
    return { ...call, title: `${of}: ${call.title}` };
  }

  async #approve(ask: EditorApproval, signal: AbortSignal): Promise<void> {
    const { chat, hasForms } = this.#desk;
    const isForm = ask.proposal.kind === 'elicitation' && hasForms && chat.device !== null;
    const reply = isForm ? await this.#fill(ask, signal) : await this.#permit(ask, signal);
    if (!reply) return;
    await insist(() => sendReply(chat.client, ask, reply, chat.device), signal);
  }

  async #permit(ask: EditorApproval, signal: AbortSignal): Promise<ApprovalReply | undefined> {
    const { chat, folder } = this.#desk;
    const { proposal, reason, responseId, documentId } = ask;
    const canAllow = chat.device !== null && proposal.kind !== 'elicitation';
    const lasting = canAllow ? plainLasting(lastingOf(chat, ask)) : undefined;
    const call = proposedCall(proposal, folder);
    const words = canAllow ? inOneLine(reason) : `${inOneLine(reason)} ${ELSEWHERE}`;
    const toolCall: ToolCallUpdate = {
      ...call,
      toolCallId: toolCallIdOf(responseId, documentId),
      content: [textContent(words), ...(call.content ?? [])],
    };
    const options: PermissionOption[] = [
      ...(canAllow ? [ALLOW] : []),
      ...(lasting ? [{ ...LASTING, name: allowing(proposal, lasting) }] : []),
      REJECT,
    ];
    switch (await this.#choose(toolCall, options, signal)) {
      case ALLOW.optionId:
        return { decision: 'once' };
      case LASTING.optionId:
        return lasting && { decision: 'once', scope: 'conversation', pattern: lasting.pattern };
      case REJECT.optionId:
        return { decision: 'reject' };
      default:
        return undefined;
    }
  }

  /** The values that an MCP server asks for. */
  async #fill(ask: EditorApproval, signal: AbortSignal): Promise<ApprovalReply | undefined> {
    const { proposal } = ask;
    if (proposal.kind !== 'elicitation') return undefined;
    const { server, fields } = proposal;
    const asked = `The server ${inOneLine(server)} asks, and gets your answer: `;
    for (let problem = ''; ; ) {
      const message = `${problem}${asked}${inPlainSight(proposal.message)}`;
      const given = await this.#form(message, formOf(fields), signal);
      if (given === undefined) return undefined;
      if (given === 'declined') return { decision: 'reject' };
      const content = JSON.stringify(given);
      const read = readForm(fields, content);
      if (read.isValid) return { decision: 'once', content };
      problem = `${read.problem} `;
    }
  }

  async #answer(ask: Clarification, signal: AbortSignal): Promise<void> {
    const { chat, hasForms } = this.#desk;
    const { conversationId, documentId, responseId } = ask;
    const answers = hasForms
      ? await this.#answersOfForm(ask, signal)
      : await this.#answersOneByOne(ask, signal);
    if (!answers) return;
    const answer = { answers, responseId };
    const send = () => chat.client.answerClarification(conversationId, documentId, answer);
    await insist(send, signal);
  }

  /** A person who declines skips all questions. */
  async #answersOfForm(
    { questions }: Clarification,
    signal: AbortSignal,
  ): Promise<Answer[] | undefined> {
    const given = await this.#form('The agent asks you.', formOfQuestions(questions), signal);
    if (given === undefined) return undefined;
    return given === 'declined' ? [] : answersIn(questions, given);
  }

  /** For an editor without forms: one option of each question, or none. */
  async #answersOneByOne(
    { questions, responseId, documentId }: Clarification,
    signal: AbortSignal,
  ): Promise<Answer[] | undefined> {
    const answers: Answer[] = [];
    for (const [at, { id: questionId, text, options }] of questions.entries()) {
      const toolCallId = `${toolCallIdOf(responseId, documentId)}/${at}`;
      const call = { toolCallId, title: inOneLine(text), kind: 'think' as const };
      this.#desk.show({ sessionUpdate: 'tool_call', ...call, status: 'pending' });
      const chosen = await this.#choose(call, questionOptions(options), signal);
      this.#desk.show({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' });
      if (chosen === undefined) return undefined;
      const option = options[Number(chosen)];
      if (option) answers.push({ questionId, optionIds: [option.id] });
    }
    return answers;
  }

  /** The id of the option; undefined if the person chose none, for example because the prompt was cancelled. */
  async #choose(
    toolCall: ToolCallUpdate,
    options: PermissionOption[],
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { editor, sessionId } = this.#desk;
    const { outcome } = await editor.request(
      'session/request_permission',
      { sessionId, toolCall, options },
      { cancellationSignal: signal, stopWaitingOnCancel: true },
    );
    return outcome.outcome === 'selected' ? outcome.optionId : undefined;
  }

  async #form(
    message: string,
    requestedSchema: ReturnType<typeof formOf>,
    signal: AbortSignal,
  ): Promise<FormContent | 'declined' | undefined> {
    const { editor, sessionId } = this.#desk;
    const answer = await editor.request(
      'elicitation/create',
      { mode: 'form', sessionId, message, requestedSchema },
      { cancellationSignal: signal, stopWaitingOnCancel: true },
    );
    if (answer.action === 'decline') return 'declined';
    if (answer.action !== 'accept' || !('content' in answer)) return undefined;
    return FormContent.parse(answer.content ?? {});
  }

  /** The bridge may not know this machine's key: then the question is still open. Others have their answer. */
  #tellFailure(error: unknown): void {
    if (error instanceof ClientError && STILL_OPEN.has(error.code)) {
      this.#desk.say(`The answer was not accepted: ${describeError(error)}`);
    } else {
      const why = error instanceof ClientError ? describeError(error) : inOneLine(String(error));
      complain(`A question was not answered here: ${why}`);
    }
  }
}

const ALLOW: PermissionOption = { optionId: 'once', name: 'Allow once', kind: 'allow_once' };
const LASTING = { optionId: 'conversation', kind: 'allow_always' } as const;
const REJECT: PermissionOption = { optionId: 'reject', name: 'Reject', kind: 'reject_once' };
const YES: PermissionOption = { optionId: 'yes', name: 'Yes', kind: 'allow_once' };
const NO: PermissionOption = { optionId: 'no', name: 'No', kind: 'reject_once' };
const SKIP: PermissionOption = { optionId: 'skip', name: 'Skip', kind: 'reject_once' };

function textContent(text: string) {
  return { type: 'content' as const, content: { type: 'text' as const, text } };
}

const ELSEWHERE = 'Approve it at the terminal of the bridge, or on an enrolled device.';

const STILL_OPEN: ReadonlySet<string> = new Set([
  'APPROVAL_REFUSED',
  'APPROVAL_NOT_SIGNED',
  'UNKNOWN_PROPOSAL',
]);

function questionOptions(options: Question['options']): PermissionOption[] {
  const named = options.map(({ label }, at) => {
    return { optionId: String(at), name: inOneLine(label), kind: 'allow_once' as const };
  });
  return [...named, SKIP];
}

/** What is signed was on the screen: a pattern with hidden characters is not offered. */
function plainLasting(lasting: Lasting | undefined): Lasting | undefined {
  return lasting && inPlainSight(lasting.pattern) === lasting.pattern ? lasting : undefined;
}

function allowing(proposal: Proposal, lasting: Lasting): string {
  return `Allows ${lastingWords(proposal, lasting)} in this conversation`;
}

/** Asks the person about a call, and signs a yes with this machine's key. */
import { isNewText } from '../../../client/index.ts';
import { type AskedPattern, askPatterns } from '../../../machine/ask-patterns.ts';
import { REQUEST_LIMITS } from '../../../shared/limits.ts';
import { withCommandLast } from '../../../shared/shown/command-last.ts';
import { lastingWords, onceWords, siteOf } from '../../../shared/shown/proposal.ts';
import { inOneLine, inPlainSight } from '../../../shared/text/plain-sight.ts';
import { hostsIn } from '../../../shared/tools/network-permission.ts';
import { hostWords } from '../../../shared/tools/registries.ts';
import type { Lasting, Proposal, Scope } from '../../../shared/wire/approvals.ts';
import type { SubagentAsk } from '../../../shared/wire/subagents.ts';
import { type ApprovalReply, lastingOf, sendReply } from '../../chat/approvals.ts';
import { putForChange } from '../../chat/changed-file.ts';
import { asTyped, ownCommand } from '../../terminal/own-command.ts';
import { approvalKey } from '../transcript/look.ts';
import type { DialogDesk } from './dialog.ts';
import type { Line } from './folded.ts';
import { fillForm } from './form.ts';
import type { ListChoice, Panel } from './panel.ts';
import { sendAnswer } from './send.ts';

export type AskedApproval = Extract<SubagentAsk, { kind: 'approval' }>;

export interface ApprovalPlace {
  readonly desk: Pick<DialogDesk, 'edit' | 'look' | 'session'>;
  /** The folder and the machine, in plain sight. */
  readonly where: string;
  /** Whether a yes for the same call did not count before. */
  readonly wasRefused: boolean;
}

/** Asks about `question`, which must not change, sends the clear answer, and resolves to it, or rejects. */
export async function answerApproval(
  panel: Panel,
  question: AskedApproval,
  place: ApprovalPlace,
): Promise<ApprovalReply> {
  const { chat } = place.desk.session;
  const reply = await new Approval(panel, question, place).decide();
  const there = { ...chat, conversationId: question.conversationId };
  const { answeredHere } = place.desk.look;
  const key = approvalKey(question.responseId, question.documentId);
  // The event can be quicker than the reply.
  answeredHere.add(key);
  try {
    await sendAnswer(panel, () => sendReply(there, question, reply, chat.device));
  } catch (error) {
    answeredHere.delete(key);
    throw error;
  }
  return reply;
}

/** What a person does whose key does not count at a machine. */
function howToEnrol(): string {
  const [show, enrol] = [ownCommand('devices', 'show'), 'drawbridge devices enrol KEY'];
  return `\`${show}\` prints this machine's key; \`${enrol}\` at the machine of the bridge makes its answers count.`;
}

/** A choice, and what it leads to; undefined goes back to the choices. */
interface ApprovalWay extends ListChoice {
  readonly reply: () => Promise<ApprovalReply | undefined>;
}

class Approval {
  readonly #panel: Panel;
  readonly #question: AskedApproval;
  readonly #place: ApprovalPlace;
  readonly #lasting: Lasting | undefined;
  #note: string | undefined;

  constructor(panel: Panel, question: AskedApproval, place: ApprovalPlace) {
    this.#panel = panel;
    this.#question = question;
    this.#place = place;
    this.#lasting = lastingOf(place.desk.session.chat, question);
  }

  async decide(): Promise<ApprovalReply> {
    const ways = this.#ways();
    for (;;) {
      const chosen = await this.#panel.choose({
        title: this.#title,
        body: this.#body(),
        note: this.#note,
        choices: ways,
        putsAway: true,
      });
      this.#note = undefined;
      const reply = await ways[chosen?.index ?? -1]?.reply();
      if (reply) return reply;
    }
  }

  get #title(): string {
    return TITLES[this.#question.proposal.kind];
  }

  #body(): Line[] {
    const { proposal, reason, title, conversationId } = this.#question;
    const { chat } = this.#place.desk.session;
    const isElsewhere = conversationId !== chat.conversationId;
    const tool = `Tool: ${inOneLine(proposal.tool)}`;
    const why = `Why: ${inOneLine(asTyped(reason))}`;
    const about = [
      // The bridge names the tool of an edit; any other name could go on like the line behind it.
      ...(proposal.kind === 'edit' ? [`${tool} · ${why}`] : [tool, why]),
      `Where: ${this.#place.where}`,
      ...(isElsewhere ? [`For: ${inOneLine(title)}`] : []),
    ];
    return [
      ...about.map((text) => ({ text, style: 'dim' as const })),
      ...withCommandLast(proposal).map((text) => styled(text, proposal)),
      ...this.#longReach(),
      ...this.#advice(),
    ];
  }

  /** What a choice has no room for. */
  #longReach(): Line[] {
    if (!this.#place.desk.session.chat.device || isShort(this.#reach)) return [];
    return [{ text: `A yes that lasts allows ${this.#reach}.`, style: 'dim' }];
  }

  /** What a yes that lasts allows; empty where none does. */
  get #reach(): string {
    if (!this.#lasting) return '';
    const { proposal } = this.#question;
    const { pattern } = this.#lasting;
    const isOfHosts = proposal.kind === 'command' && hostsIn(proposal.permissions).length > 0;
    // The permissions list each of the registries.
    const shown = isOfHosts ? hostWords(pattern.split('\n')) : pattern;
    return inOneLine(lastingWords(proposal, { ...this.#lasting, pattern: shown }));
  }

  #advice(): Line[] {
    const { desk, wasRefused } = this.#place;
    const { device, own } = desk.session.chat;
    // The bridge of this machine knows this machine's key.
    const isUnknown = wasRefused && own?.bridgeId !== this.#question.bridgeId;
    const words = device ? (isUnknown ? REFUSED : undefined) : NO_KEY;
    return words === undefined ? [] : [{ text: `${words} ${howToEnrol()}`, style: 'yellow' }];
  }

  #ways(): readonly ApprovalWay[] {
    const reject = {
      label: 'Reject',
      reply: () => Promise.resolve({ decision: 'reject' as const }),
    };
    const explain = { label: 'Reject, and say why', reply: () => this.#explain() };
    return [...this.#yeses(), reject, explain];
  }

  #yeses(): readonly ApprovalWay[] {
    if (!this.#place.desk.session.chat.device) return [];
    const { proposal, newText } = this.#question;
    const needsEnd = true;
    if (proposal.kind === 'elicitation')
      return [{ label: 'Answer', needsEnd, reply: () => this.#fill(proposal.fields) }];
    const once = { decision: 'once' as const };
    const canChange = proposal.kind === 'edit' && proposal.operation !== 'delete';
    const label =
      siteOf(proposal) === undefined ? 'Allow once' : `Allow: ${inOneLine(onceWords(proposal))}`;
    return [
      { label, needsEnd, reply: () => Promise.resolve(once) },
      ...(this.#lasting ? [this.#lastingWay('Allow in this conversation', 'conversation')] : []),
      ...(this.#lasting?.always ? [this.#lastingWay('Allow always', 'always')] : []),
      ...(canChange && newText !== undefined
        ? [{ label: 'Change the file first', reply: () => this.#change(proposal, newText) }]
        : []),
    ];
  }

  #lastingWay(words: string, scope: Scope): ApprovalWay {
    const label = isShort(this.#reach) ? `${words}: ${this.#reach}` : words;
    return { label, needsEnd: true, reply: () => this.#last(scope) };
  }

  async #last(scope: Scope): Promise<ApprovalReply | undefined> {
    const { proposal } = this.#question;
    const standard = this.#lasting?.pattern ?? '';
    const pattern = await askPatterns(
      (asked) => this.#askPattern(scope, asked),
      proposal,
      standard,
    );
    return pattern === undefined ? undefined : { decision: 'once', scope, pattern };
  }

  /** What is signed was on the screen: hidden characters are taken as they are shown, or not at all. */
  async #askPattern(
    scope: Scope,
    { pattern, subject, place, refused }: AskedPattern,
  ): Promise<string | undefined> {
    const shown = inPlainSight(pattern);
    let value = refused?.typed ?? (shown === pattern ? pattern : '');
    const body = [
      { text: `For ${subject}`, style: 'bold' as const },
      { text: `Pattern: ${shown}` },
      { text: `${REACHES[scope]} * is any text. An empty field takes the pattern above.` },
    ];
    let note = refused?.why;
    for (;;) {
      const typed = await this.#panel.write({
        title: place === '' ? 'Allow what?' : `Allow what? Pattern ${place}`,
        body,
        note,
        value,
        isNew: true,
      });
      if (typed === undefined || typed === pattern) return typed;
      note = problemOfPattern(typed);
      if (note === undefined) return typed;
      value = typed;
    }
  }

  async #fill(
    fields: Extract<Proposal, { kind: 'elicitation' }>['fields'],
  ): Promise<ApprovalReply | undefined> {
    const content = await fillForm(this.#panel, fields);
    return content === undefined ? undefined : { decision: 'once', content };
  }

  async #explain(): Promise<ApprovalReply | undefined> {
    const body = [{ text: 'The model reads what you write.' }];
    for (let note: string | undefined; ; note = TOO_LONG) {
      const message = await this.#panel.write({ title: 'Reject, and say why', body, note });
      if (message === undefined) return undefined;
      if (message.length > REQUEST_LIMITS.maxReasonChars) continue;
      return { decision: 'reject', ...(message !== '' && { message }) };
    }
  }

  async #change(
    proposal: Extract<Proposal, { kind: 'edit' }>,
    newText: string,
  ): Promise<ApprovalReply | undefined> {
    // The server may have sent another text than the one that is to be signed.
    if (!(await isNewText(proposal, newText))) {
      this.#note = 'The server sent another text than the proposed one: it cannot be changed here.';
      return undefined;
    }
    const { path } = proposal;
    for (let text = newText; ; ) {
      const content = await this.#edited(path, text);
      if (content === undefined) return undefined;
      const lines = inPlainSight(content).split('\n');
      const chosen = await this.#panel.choose({
        title: 'Write it like this?',
        body: lines.map((line) => ({ text: `    + ${line}`, style: 'green' })),
        choices: [{ label: 'Allow it like this' }, { label: 'Change it again' }],
        isNew: true,
      });
      if (!chosen) return undefined;
      if (chosen.index === 0) return { decision: 'once', content };
      text = content;
    }
  }

  /** The text as the person saved it; undefined with a note if there is none. */
  async #edited(path: string, text: string): Promise<string | undefined> {
    await using put = await putForChange({ path, text });
    const hasEnded = await this.#place.desk.edit(put.file);
    const saved = hasEnded ? await put.read() : { why: 'The editor failed.' };
    if ('content' in saved) return saved.content;
    this.#note = saved.why;
    return undefined;
  }
}

const TITLES: Readonly<Record<Proposal['kind'], string>> = {
  edit: 'Change this file?',
  command: 'Run this command?',
  call: 'Allow this call?',
  elicitation: 'Answer this server?',
};

const REACHES: Readonly<Record<Scope, string>> = {
  conversation: 'It is allowed in this conversation.',
  always: 'It is allowed from now on, in every conversation.',
};

/** Whether a choice can say it in a line or two of a small screen. */
function isShort(reach: string): boolean {
  return reach.length <= MAX_REACH_CHARS;
}

/** UTF-16 units. */
const MAX_REACH_CHARS = 80;

const NO_KEY =
  "This machine is not enrolled at the bridge: say yes at the bridge's terminal or on an enrolled device.";
const REFUSED = 'Your last yes was not accepted: this machine may not be enrolled at the bridge.';
const TOO_LONG = `At most ${REQUEST_LIMITS.maxReasonChars} characters.`;

/** Why a written pattern cannot be signed: the person must have seen all of it. */
function problemOfPattern(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN_CHARS) return `At most ${MAX_PATTERN_CHARS} characters.`;
  if (inPlainSight(pattern) === pattern) return undefined;
  return 'The pattern has characters that a screen does not show: write it without them.';
}

/** UTF-16 units of a pattern that a person writes: it stands whole on a small screen. */
const MAX_PATTERN_CHARS = 200;

/** The colours of a change, and of what is not shown. */
function styled(text: string, { kind }: Proposal): Line {
  if (kind !== 'edit') return { text };
  if (text.startsWith('    +')) return { text, style: 'green' };
  if (text.startsWith('    -')) return { text, style: 'red' };
  return text.startsWith('  NOT SHOWN') ? { text, style: 'yellow' } : { text };
}

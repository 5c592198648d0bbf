/** A call that a person allows or rejects: what is asked, the choices, and what each sends. */
import { type Client, type Device, isNewText } from '../../client/index.ts';
import { type AskedPattern, askPatterns, patternQuestion } from '../../machine/ask-patterns.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { withCommandLast } from '../../shared/shown/command-last.ts';
import {
  lastingWords,
  narrowPattern,
  onceWords,
  parseAnswer,
  siteOf,
  type TypedAnswer,
  yesWords,
} from '../../shared/shown/proposal.ts';
import { inOneLine, inPlainSight } from '../../shared/text/plain-sight.ts';
import { hostsIn } from '../../shared/tools/network-permission.ts';
import { hostWords } from '../../shared/tools/registries.ts';
import type { Lasting, OpenApproval, Proposal, Scope } from '../../shared/wire/approvals.ts';
import type { OwnBridge } from '../target/target.ts';
import { asTyped, ownCommand } from '../terminal/own-command.ts';
import { fillForm } from './form.ts';
import type { AskedLine, Line, ListChoice, Prompter, ReadLine } from './steps.ts';

/** Who answers. */
export interface ApprovalDesk {
  /** What signs; null if this machine has no key that the bridge knows. */
  readonly device: Device | null;
  /** The bridge of this folder on this machine, whose rules the person may change. */
  readonly own?: OwnBridge | undefined;
  readonly conversationId?: string | undefined;
}

/** What a dialog says beside the call. */
export interface ApprovalPlace {
  /** The folder and the machine, in plain sight. */
  readonly where: string;
  /** Whether a yes for the same call did not count before. */
  readonly wasRefused: boolean;
}

/** An answer with all that is signed or sent beside it. */
export interface ApprovalReply extends TypedAnswer {
  /** Of a yes that lasts. */
  readonly pattern?: string;
  /** The file as the person changed it, or the values of a form. */
  readonly content?: string;
}

/** What a choice leads to: an answer, or a step before it. */
type ApprovalWay =
  | { readonly type: 'reply'; readonly reply: ApprovalReply }
  | { readonly type: 'last'; readonly scope: Scope }
  | { readonly type: 'fill' | 'change' | 'explain' };

/** A step that led to no answer: the call is asked about again. */
interface WayBack {
  readonly note?: string;
}

/**
 * Asks until the answer is clear. It counts only for this question, which must not change: one that replaces it is
 * asked anew. Without a place, the call and its reason were shown before.
 */
export async function decideApproval(
  prompter: Prompter,
  question: OpenApproval,
  desk: ApprovalDesk,
  place?: ApprovalPlace,
): Promise<ApprovalReply> {
  const lasting = lastingOf(desk, question);
  const line = lineOf(question, lasting);
  const choices = choicesOf(question, desk, lasting);
  const body = place ? bodyOf(question, desk, lasting, place) : [];
  const title = TITLES[question.proposal.kind];
  for (let note: string | undefined; ; ) {
    const chosen = await prompter.choose({ title, body, note, choices, line, putsAway: true });
    const outcome = chosen ? await follow(chosen.answer, prompter, question, lasting) : {};
    if ('decision' in outcome) return outcome;
    note = outcome.note;
  }
}

const TITLES: Readonly<Record<Proposal['kind'], string>> = {
  edit: 'Change this file?',
  command: 'Run this command?',
  call: 'Allow this call?',
  elicitation: 'Answer this server?',
};

/** How a yes can last here: undefined where only a yes for once counts. The bridge of this folder always takes `always`. */
export function lastingOf(
  { own }: Pick<ApprovalDesk, 'own'>,
  { proposal, lasting, bridgeId }: Pick<OpenApproval, 'proposal' | 'lasting' | 'bridgeId'>,
): Lasting | undefined {
  const pattern = narrowPattern(proposal, lasting);
  const always = own?.bridgeId === bridgeId || lasting?.always === true;
  return pattern === undefined ? undefined : { pattern, always };
}

/** A yes needs a device. */
function choicesOf(
  { proposal, newText }: OpenApproval,
  { device }: ApprovalDesk,
  lasting: Lasting | undefined,
): ListChoice<ApprovalWay>[] {
  const noes: ListChoice<ApprovalWay>[] = [
    { label: 'Reject', answer: { type: 'reply', reply: { decision: 'reject' } } },
    { label: 'Reject, and say why', answer: { type: 'explain' } },
  ];
  if (!device) return noes;
  const needsEnd = true;
  if (proposal.kind === 'elicitation')
    return [{ label: 'Answer', needsEnd, answer: { type: 'fill' } }, ...noes];
  const once =
    siteOf(proposal) === undefined ? 'Allow once' : `Allow: ${inOneLine(onceWords(proposal))}`;
  const reach = reachOf(proposal, lasting);
  const forLong = (words: string, scope: Scope): ListChoice<ApprovalWay> => {
    const label = isShort(reach) ? `${words}: ${reach}` : words;
    return { label, needsEnd, answer: { type: 'last', scope } };
  };
  return [
    { label: once, needsEnd, answer: { type: 'reply', reply: { decision: 'once' } } },
    ...(lasting ? [forLong('Allow in this conversation', 'conversation')] : []),
    ...(lasting?.always ? [forLong('Allow always', 'always')] : []),
    ...(isChangeable(proposal) && newText !== undefined
      ? [{ label: 'Change the file first', answer: { type: 'change' as const } }]
      : []),
    ...noes,
  ];
}

function isChangeable(proposal: Proposal): proposal is Extract<Proposal, { kind: 'edit' }> {
  return proposal.kind === 'edit' && proposal.operation !== 'delete';
}

/** The same choices by their first letters. A reason follows a no at once. */
function lineOf(
  { proposal, newText }: OpenApproval,
  lasting: Lasting | undefined,
): AskedLine<ApprovalWay> {
  const canChange = isChangeable(proposal) && newText !== undefined;
  const change = canChange ? '; e lets you change it first' : '';
  const yes = yesWords(proposal, lasting);
  return {
    words: `Allow it? ${yes}${change}; n rejects it, and a reason may follow: `,
    read(typed): ReadLine<ApprovalWay> {
      if (canChange && typed.trim().toLowerCase() === 'e') return { answer: { type: 'change' } };
      const canLast = lasting !== undefined;
      const reply = parseAnswer(typed, { canLast, canBeAlways: lasting?.always === true });
      if (!reply) return {};
      if (reply.scope) return { answer: { type: 'last', scope: reply.scope } };
      const isFilled = reply.decision === 'once' && proposal.kind === 'elicitation';
      return { answer: isFilled ? { type: 'fill' } : { type: 'reply', reply } };
    },
  };
}

/** The question without a text that the server has put into the place of the proposed one: it cannot be changed. */
export async function withOwnText(question: OpenApproval): Promise<OpenApproval> {
  const { newText, ...rest } = question;
  const { proposal } = question;
  const isOwn =
    newText !== undefined && proposal.kind === 'edit' && (await isNewText(proposal, newText));
  return isOwn ? question : rest;
}

function bodyOf(
  { proposal, reason, title, conversationId, bridgeId }: OpenApproval,
  { device, own, conversationId: here }: ApprovalDesk,
  lasting: Lasting | undefined,
  { where, wasRefused }: ApprovalPlace,
): Line[] {
  const tool = `Tool: ${inOneLine(proposal.tool)}`;
  const why = `Why: ${inOneLine(asTyped(reason))}`;
  const about = [
    // The bridge names the tool of an edit; any other name could go on like the line behind it.
    ...(proposal.kind === 'edit' ? [`${tool} · ${why}`] : [tool, why]),
    `Where: ${where}`,
    ...(conversationId === here ? [] : [`For: ${inOneLine(title)}`]),
  ];
  // What a choice has no room for.
  const reach = device ? reachOf(proposal, lasting) : '';
  const longReach = isShort(reach) ? [] : [`A yes that lasts allows ${reach}.`];
  // The bridge of this machine knows this machine's key.
  const isUnknown = wasRefused && own?.bridgeId !== bridgeId;
  const problem = device ? (isUnknown ? REFUSED : undefined) : NO_KEY;
  const dim = (text: string): Line => ({ text, style: 'dim' });
  return [
    ...about.map(dim),
    ...withCommandLast(proposal).map((text) => styled(text, proposal)),
    ...longReach.map(dim),
    ...(problem === undefined
      ? []
      : [{ text: `${problem} ${howToEnrol()}`, style: 'yellow' as const }]),
  ];
}

/** The colours of a change, and of what is not shown. */
function styled(text: string, { kind }: Proposal): Line {
  if (kind !== 'edit') return { text };
  if (text.startsWith('    +')) return { text, style: 'green' };
  if (text.startsWith('    -')) return { text, style: 'red' };
  return text.startsWith('  NOT SHOWN') ? { text, style: 'yellow' } : { text };
}

const NO_KEY =
  "This machine is not enrolled at the bridge: say yes at the bridge's terminal or on an enrolled device.";
const REFUSED = 'Your last yes was not accepted: this machine may not be enrolled at the bridge.';

/** What a person does whose key does not count at a machine. */
function howToEnrol(): string {
  const [show, enrol] = [ownCommand('devices', 'show'), 'drawbridge devices enrol KEY'];
  return `\`${show}\` prints this machine's key; \`${enrol}\` at the machine of the bridge makes its answers count.`;
}

/** What a yes that lasts allows; empty where none does. */
function reachOf(proposal: Proposal, lasting: Lasting | undefined): string {
  if (!lasting) return '';
  const { pattern } = lasting;
  const isOfHosts = proposal.kind === 'command' && hostsIn(proposal.permissions).length > 0;
  // The permissions list each of the registries.
  const shown = isOfHosts ? hostWords(pattern.split('\n')) : pattern;
  return inOneLine(lastingWords(proposal, { ...lasting, pattern: shown }));
}

/** Whether a choice can say it in a line or two of a small screen. */
function isShort(reach: string): boolean {
  return reach.length <= MAX_REACH_CHARS;
}

/** UTF-16 units. */
const MAX_REACH_CHARS = 80;

/** Takes the steps of a choice. */
async function follow(
  way: ApprovalWay,
  prompter: Prompter,
  { proposal, newText = '' }: OpenApproval,
  lasting: Lasting | undefined,
): Promise<ApprovalReply | WayBack> {
  switch (way.type) {
    case 'reply':
      return way.reply;
    case 'last': {
      const { scope } = way;
      const ask = (asked: AskedPattern) => askPattern(prompter, scope, asked);
      const pattern = await askPatterns(ask, proposal, lasting?.pattern ?? '');
      return pattern === undefined ? {} : { decision: 'once', scope, pattern };
    }
    case 'fill': {
      const fields = proposal.kind === 'elicitation' ? proposal.fields : [];
      const content = await fillForm(prompter, fields);
      return content === undefined ? {} : { decision: 'once', content };
    }
    case 'change':
      return isChangeable(proposal) ? await change(prompter, proposal, newText) : {};
    case 'explain': {
      const message = await prompter.write({
        title: 'Reject, and say why',
        body: [{ text: 'The model reads what you write.' }],
        check: ({ length }) => (length > REQUEST_LIMITS.maxReasonChars ? TOO_LONG : undefined),
      });
      return message === undefined ? {} : { decision: 'reject', ...(message && { message }) };
    }
    default:
      return way satisfies never;
  }
}

const TOO_LONG = `At most ${REQUEST_LIMITS.maxReasonChars} characters.`;

/** What is signed was on the screen: hidden characters are taken as they are shown, or not at all. */
async function askPattern(
  prompter: Prompter,
  scope: Scope,
  asked: AskedPattern,
): Promise<string | undefined> {
  const { pattern, subject, place, refused } = asked;
  const shown = inPlainSight(pattern);
  return await prompter.write({
    title: place === '' ? 'Allow what?' : `Allow what? Pattern ${place}`,
    body: [
      { text: `For ${subject}`, style: 'bold' },
      { text: `Pattern: ${shown}` },
      { text: `${REACHES[scope]} * is any text. An empty field takes the pattern above.` },
    ],
    note: refused?.why,
    value: refused?.typed ?? (shown === pattern ? pattern : ''),
    isNew: true,
    line: patternQuestion(asked),
    check(typed) {
      if (typed === pattern) return undefined;
      if (typed.length > MAX_PATTERN_CHARS) return `At most ${MAX_PATTERN_CHARS} characters.`;
      if (inPlainSight(typed) === typed) return undefined;
      return 'The pattern has characters that a screen does not show: write it without them.';
    },
  });
}

const REACHES: Readonly<Record<Scope, string>> = {
  conversation: 'It is allowed in this conversation.',
  always: 'It is allowed from now on, in every conversation.',
};

/** UTF-16 units of a pattern that a person writes: it stands whole on a small screen. */
const MAX_PATTERN_CHARS = 200;

async function change(
  prompter: Prompter,
  proposal: Extract<Proposal, { kind: 'edit' }>,
  newText: string,
): Promise<ApprovalReply | WayBack> {
  // The server may have sent another text than the one that is to be signed.
  if (!(await isNewText(proposal, newText))) return { note: OTHER_TEXT };
  for (let text = newText; ; ) {
    const saved = await prompter.change({ path: proposal.path, text });
    if (!saved) return {};
    if ('why' in saved) return { note: saved.why };
    const { content } = saved;
    const lines = inPlainSight(content).split('\n');
    const chosen = await prompter.choose({
      title: 'Write it like this?',
      body: lines.map((line) => ({ text: `    + ${line}`, style: 'green' })),
      choices: [
        { label: 'Allow it like this', answer: 'allow' },
        { label: 'Change it again', answer: 'change' },
      ],
      isNew: true,
      line: 'seen',
    });
    if (!chosen) return {};
    if (chosen.answer === 'allow') return { decision: 'once', content };
    text = content;
  }
}

const OTHER_TEXT = 'The server sent another text than the proposed one: it cannot be changed here.';

/** Sends the answer to this very question. A yes needs the device; a no does not. Rejects with a ClientError. */
export async function sendReply(
  client: Pick<Client, 'allowCall' | 'rejectCall'>,
  question: OpenApproval,
  { decision, message, ...choice }: ApprovalReply,
  device: Device | null,
): Promise<void> {
  if (decision === 'reject') return await client.rejectCall(question, { message });
  if (!device) throw new Error('A yes was chosen without a key to sign it');
  await client.allowCall(question, device, choice);
}

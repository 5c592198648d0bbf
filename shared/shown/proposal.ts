/** What a person reads before deciding about a proposal: the same lines wherever it is shown. */

import { REQUEST_LIMITS } from '../limits.ts';
import { inPlainSight, nameInLine } from '../text/plain-sight.ts';
import { hostsIn } from '../tools/network-permission.ts';
import { isRegistry } from '../tools/registries.ts';
import type { Lasting, Proposal, Scope } from '../wire/approvals.ts';

/** The whole proposal, line by line. Values are indented, and their further lines are indented deeper. */
export function describeProposal(proposal: Proposal): string[] {
  switch (proposal.kind) {
    case 'edit':
      return describeEdit(proposal);
    case 'command': {
      const { command, folder, permissions, background, timeLimitMs, confinement } = proposal;
      return describeValues({
        command,
        folder,
        permissions: permissionWords(permissions),
        ...(background && { background: 'it goes on until it or the bridge ends' }),
        ...(timeLimitMs !== null && { timeLimit: `${timeLimitMs} ms` }),
        sandbox: confinement,
      });
    }
    case 'call':
      return [
        ...(proposal.offer ? [describeOffer(proposal.offer)] : []),
        ...describeValues(proposal.arguments),
      ];
    case 'elicitation':
      return describeElicitation(proposal);
    default:
      return proposal satisfies never;
  }
}

/** Each host as it is signed, and the registries with one word before them. */
function permissionWords(permissions: readonly string[]): string {
  const hosts = hostsIn(permissions);
  const others = permissions.filter((permission) => !permission.startsWith('network'));
  const registries = hosts.filter(isRegistry);
  const named = hosts.filter((host) => !isRegistry(host));
  const network = [
    ...named,
    ...(registries.length > 0 ? [`package registries (${registries.join(', ')})`] : []),
  ];
  const words = [
    ...others,
    ...(permissions.includes('network') ? [WHOLE] : []),
    ...(network.length > 0 ? [`network: ${network.join(', ')}`] : []),
  ];
  return words.length === 0 ? 'none' : words.join(', ');
}

const WHOLE = 'network (the whole network of the machine)';

/** What a yes for once does, as the end of a sentence. */
export function onceWords(proposal: Proposal): string {
  const site = siteOf(proposal);
  return site === undefined
    ? `${consequenceOf(proposal)}, this once`
    : `lets the agent read pages of ${site} in this conversation`;
}

/** What a yes that lasts allows. */
export function lastingWords(proposal: Proposal, lasting: Lasting): string {
  return `${patternsInLine(lasting)}${boundsOf(proposal)}`;
}

/** What the answers "y", "c" and "a" do, in one line. `lasting.always`: whether `always` is taken. */
export function yesWords(proposal: Proposal, lasting?: Lasting): string {
  const once = `y ${onceWords(proposal)}`;
  if (!lasting) return once;
  const shown = patternsInLine(lasting);
  const always = lasting.always ? '; a allows it from now on' : '';
  return `${once}; c allows ${shown} in this conversation${always}${boundsOf(proposal)}`;
}

function patternsInLine({ pattern }: Lasting): string {
  return inPlainSight(pattern).split('\n').join(', ');
}

function boundsOf(proposal: Proposal): string {
  if (proposal.kind === 'call' && proposal.offer) return ', until its definition changes';
  if (proposal.kind !== 'command') return '';
  const { permissions, confinement } = proposal;
  if (hostsIn(permissions).length > 0) return ', for every command in the sandbox';
  const most = permissions.length === 0 ? '' : ` with at most ${permissions.join(' and ')}`;
  return confinement === 'none' ? ', without a sandbox' : `, in the sandbox${most}`;
}

/** The site whose pages even a yes for once allows in the whole conversation; undefined for other calls. */
export function siteOf(proposal: Proposal): string | undefined {
  if (proposal.kind !== 'call' || proposal.tool !== 'web_fetch') return undefined;
  const { site } = proposal.arguments;
  return typeof site === 'string' ? inPlainSight(site) : undefined;
}

/** The offered patterns, if they match only what the proposal shows: they are unsigned, so an edge could widen them. */
export function narrowPattern(
  proposal: Proposal,
  lasting: Lasting | undefined,
): string | undefined {
  const patterns = lasting?.pattern.split('\n') ?? [];
  return patterns.every((pattern) => isNarrow(proposal, pattern)) ? lasting?.pattern : undefined;
}

function isNarrow(proposal: Proposal, pattern: string): boolean {
  if (proposal.kind === 'call') {
    const { offer, arguments: args } = proposal;
    return pattern === (offer ? `${offer.server}/${offer.tool}` : `*://${args['site']}/*`);
  }
  const isLiteral = !/(?<!\[)[*?]|[*?](?!\])/.test(pattern);
  const text = pattern.replace(/\[([*?])\]/g, '$1');
  if (proposal.kind === 'command' && hostsIn(proposal.permissions).length > 0)
    return hostsIn(proposal.permissions).includes(pattern);
  if (proposal.kind === 'command') return isLiteral && proposal.command.includes(text);
  return isLiteral && proposal.kind === 'edit' && proposal.path === text;
}

function consequenceOf(proposal: Proposal): string {
  if (proposal.kind === 'elicitation') return 'answers, and the server gets your answer';
  if (proposal.kind === 'edit') return CONSEQUENCES[proposal.operation];
  return BY_TOOL[proposal.tool] ?? 'lets this tool run';
}

const CONSEQUENCES = {
  create: 'writes this file',
  edit: 'makes this edit',
  delete: 'deletes this file',
  rename: 'renames this file',
} as const;

/** By name and not by the catalogue, whose schemas would be most of a web page's script. */
const BY_TOOL: Readonly<Record<string, string>> = {
  run_terminal_cmd: 'runs this command',
  str_replace: CONSEQUENCES.edit,
  edit_file: CONSEQUENCES.edit,
  edit_notebook: CONSEQUENCES.edit,
  write: CONSEQUENCES.create,
  delete_file: CONSEQUENCES.delete,
  rename_file: CONSEQUENCES.rename,
};

/** A person's answer as they typed it. */
export interface TypedAnswer {
  readonly decision: 'once' | 'reject';
  /** How far a yes reaches beyond the call. */
  readonly scope?: Scope;
  /** The reason of a no. */
  readonly message?: string;
}

/** Whether a question takes a yes that lasts, and whether it takes `always` from this person. */
export interface Choices {
  readonly canLast: boolean;
  readonly canBeAlways: boolean;
}

/** Takes `y`, `n` with a reason and, where the question has them, `c` and `a`, or their words; null for all else. */
export function parseAnswer(
  text: string,
  { canLast, canBeAlways }: Choices = { canLast: false, canBeAlways: false },
): TypedAnswer | null {
  if (/^\s*y(?:es)?\s*$/i.test(text)) return { decision: 'once' };
  if (canLast && /^\s*c(?:onversation)?\s*$/i.test(text))
    return { decision: 'once', scope: 'conversation' };
  if (canLast && canBeAlways && /^\s*a(?:lways)?\s*$/i.test(text))
    return { decision: 'once', scope: 'always' };
  const no = /^\s*no?(?:$|[\s,:;.-]+(.*))$/is.exec(text);
  if (!no) return null;
  const message = no[1]?.trim().slice(0, REQUEST_LIMITS.maxReasonChars);
  return { decision: 'reject', ...(message && { message }) };
}

/** Shown before the arguments, because the model chooses their names. */
function describeOffer({ server, tool }: NonNullable<CallProposal['offer']>): string {
  return `  ${inPlainSight(tool)}, a tool of the server ${inPlainSight(server)}`;
}

type CallProposal = Extract<Proposal, { kind: 'call' }>;

function describeElicitation({ server, message, fields }: ElicitationProposal): string[] {
  return [
    `  The server ${inPlainSight(server)} asks you, and gets what you answer:`,
    ...inPlainSight(message)
      .split('\n')
      .map((line) => `    ${line}`),
    ...fields.map(describeField),
  ];
}

function describeField(field: ElicitationProposal['fields'][number]): string {
  const { name, title = name, description, required } = field;
  const words = [title, ...(description === undefined ? [] : [description])].join(': ');
  const options = 'options' in field ? field.options.map(({ label }) => label).join(', ') : '';
  const rest = `${options && ` (${options})`}${required ? '' : ' (optional)'}`;
  return `  - ${inPlainSight(`${words}${rest}`).replaceAll('\n', ' ')}`;
}

type ElicitationProposal = Extract<Proposal, { kind: 'elicitation' }>;

function describeValues(values: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const [first = '', ...rest] = inPlainSight(text).split('\n');
    return [`  ${nameInPlainSight(name)}: ${first}`, ...rest.map((line) => `    ${line}`)];
  });
}

/** Marks removed lines with a minus and added lines with a plus. */
function describeEdit(edit: Extract<Proposal, { kind: 'edit' }>): string[] {
  const { operation, path, diff, beforeHash, afterHash, cut } = edit;
  const marked = (mark: string, text: string) =>
    inPlainSight(text)
      .split('\n')
      .map((line) => `    ${mark} ${line}`);
  return [
    `  ${operation}: ${nameInLine(path)}`,
    ...diff.flatMap(({ startLine, endLine, oldString, newString }) => [
      ...(operation === 'edit'
        ? [`  ${placeOf(startLine, endLine)}:`, ...marked('-', oldString)]
        : []),
      ...marked('+', newString),
    ]),
    ...(cut ? [`  NOT SHOWN: ${cut.chars} more characters of this change.`] : []),
    ...(cut ? describeValues({ sha256Before: beforeHash, sha256After: afterHash }) : []),
    ...(beforeHash === afterHash ? ['  The file has this content already.'] : []),
  ];
}

function placeOf(startLine: number, endLine: number): string {
  return startLine === endLine ? `line ${startLine}` : `lines ${startLine} to ${endLine}`;
}

/** Quotes a name that is not a plain word, so that it cannot look like a name with a value. */
function nameInPlainSight(name: string): string {
  return /^\w+$/.test(name) ? name : inPlainSight(JSON.stringify(name));
}

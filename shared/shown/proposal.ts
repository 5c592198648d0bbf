/** What a person reads before deciding about a proposal: the same lines wherever it is shown. */

import { REQUEST_LIMITS } from '../limits.ts';
import { inPlainSight, nameInLine } from '../text/plain-sight.ts';
import { findTool } from '../tools/catalogue.ts';
import { webFetch } from '../tools/web-fetch.ts';
import type { Proposal } from '../wire/approvals.ts';

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
        permissions: permissions.length === 0 ? 'none' : permissions.join(', '),
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

/** What a person can allow for good: a tool of a server, or the pages of a web site. */
export type Lasting = NonNullable<CallProposal['offer']> | { readonly site: string };

/** A host and its port. A star would be a wildcard of the rule. */
const SITE = /^[a-z0-9._:[\]-]+$/;

/** Undefined for a proposal of which nothing can be allowed for good. */
export function lastingOf(proposal: Proposal): Lasting | undefined {
  if (proposal.kind !== 'call') return undefined;
  const { tool, offer, arguments: args } = proposal;
  if (tool !== webFetch.name) return offer;
  const { site } = args;
  return typeof site === 'string' && SITE.test(site) ? { site } : undefined;
}

/** What the answers "y" and, where there is one, "a" do. `canBeAlways`: whether the person may give the answer "a" here. */
export function yesWords(proposal: Proposal, canBeAlways: boolean): string {
  const yes = `y ${consequenceOf(proposal)}, this once`;
  const lasting = lastingOf(proposal);
  if (lasting !== undefined && 'site' in lasting) {
    const pages = `pages of ${inPlainSight(lasting.site)}`;
    const always = canBeAlways ? '; a lets it read them from now on' : '';
    return `y lets the agent read ${pages} in this conversation${always}`;
  }
  if (lasting === undefined || !canBeAlways) return yes;
  const name = `${inPlainSight(lasting.server)}/${inPlainSight(lasting.tool)}`;
  return `${yes}; a lets ${name} run without a question from now on, until its definition changes`;
}

function consequenceOf(proposal: Proposal): string {
  if (proposal.kind === 'elicitation') return 'answers, and the server gets your answer';
  if (proposal.kind === 'edit') return CONSEQUENCES[proposal.operation];
  const document = findTool(proposal.tool)?.document;
  if (document?.type === 'terminal_command') return 'runs this command';
  return document?.type === 'file_edit' ? CONSEQUENCES[document.operation] : 'lets this tool run';
}

const CONSEQUENCES = {
  create: 'writes this file',
  edit: 'makes this edit',
  delete: 'deletes this file',
  rename: 'renames this file',
} as const;

/** A person's answer as they typed it. */
export interface TypedAnswer {
  readonly decision: 'once' | 'always' | 'reject';
  /** The reason of a no. */
  readonly message?: string;
}

/**
 * Takes `y`, `yes`, `n`, `no` and, where the tool can have it, `a` and `always`; text after a no is its reason. Null for
 * anything else: no typing error is a yes.
 */
export function parseAnswer(text: string, canBeAlways: boolean): TypedAnswer | null {
  if (/^\s*y(?:es)?\s*$/i.test(text)) return { decision: 'once' };
  if (canBeAlways && /^\s*a(?:lways)?\s*$/i.test(text)) return { decision: 'always' };
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
        ? [`  lines ${startLine} to ${endLine}:`, ...marked('-', oldString)]
        : []),
      ...marked('+', newString),
    ]),
    ...(cut ? [`  NOT SHOWN: ${cut.chars} more characters of this change.`] : []),
    ...(cut ? describeValues({ sha256Before: beforeHash, sha256After: afterHash }) : []),
    ...(beforeHash === afterHash ? ['  The file has this content already.'] : []),
  ];
}

/** Quotes a name that is not a plain word, so that it cannot look like a name with a value. */
function nameInPlainSight(name: string): string {
  return /^\w+$/.test(name) ? name : inPlainSight(JSON.stringify(name));
}

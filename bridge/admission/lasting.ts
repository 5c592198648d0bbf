/**
 * What an answer that lasts covers: for this conversation, or from now on. A question shows patterns, which a person can
 * change; the answer makes rules of them, which hold for nothing but what the question showed.
 */
import { COMMAND_LIMITS } from '../../shared/limits.ts';
import {
  isLiteral,
  literalPattern,
  literalStart,
  matchesWildcard,
  splitPattern,
} from '../../shared/text/wildcard.ts';
import { findTool } from '../../shared/tools/catalogue.ts';
import { editFile } from '../../shared/tools/edit-file.ts';
import { editNotebook } from '../../shared/tools/edit-notebook.ts';
import { hostsIn } from '../../shared/tools/network-permission.ts';
import { Permission, runTerminalCmd } from '../../shared/tools/run-terminal-cmd.ts';
import { strReplace } from '../../shared/tools/str-replace.ts';
import { webFetch } from '../../shared/tools/web-fetch.ts';
import { write } from '../../shared/tools/write.ts';
import type { Proposal } from '../../shared/wire/approvals.ts';
import { parseCommandLine } from './command-line.ts';
import { fedCommands } from './fed.ts';
import { runsOthers } from './readings.ts';
import { NETWORK } from './rule-names.ts';
import type { Rule } from './rules.ts';
import { RULE_LIMITS } from './shell/limits.ts';
import { allowsPage } from './web.ts';
import { withoutBounds } from './wrappers.ts';

/**
 * The patterns that match only what the question shows, one on each line: one for each command of a line, without
 * `timeout` and the like. Undefined for a proposal to which no answer lasts.
 */
export function patternOf(proposal: Proposal): string | undefined {
  const shown = subjectsOf(proposal);
  const isNetwork = proposal.kind === 'command' && hostsIn(proposal.permissions).length > 0;
  const most = isNetwork ? RULE_LIMITS.maxHostPatterns : RULE_LIMITS.maxPatterns;
  if (!shown || shown.length === 0 || shown.length > most) return undefined;
  const patterns = shown.map(({ pattern }) => pattern);
  const joined = patterns.join('\n');
  const isReadable = joined.length <= COMMAND_LIMITS.maxAnswerPatternChars;
  return isReadable && !patterns.some((pattern) => pattern.includes('\n')) ? joined : undefined;
}

/** A sentence on why the patterns are none for this proposal; undefined for patterns that are. */
export function problemOfPattern(proposal: Proposal, patterns: string): string | undefined {
  const shown = subjectsOf(proposal) ?? [];
  const given = patterns.split('\n');
  if (patternOf(proposal) === undefined) return 'A yes to this question counts once.';
  if (given.length !== shown.length) {
    return `It takes ${shown.length} patterns, each on a line of its own, in the order of the question.`;
  }
  return given
    .map((pattern, index) => shown[index]?.problemOf(pattern))
    .find((problem) => problem !== undefined);
}

/** The rules that the patterns make. They hold where the question was asked: with its permissions and its sandbox. */
export function rulesOf(proposal: Proposal, patterns: string, now: Date): readonly Rule[] {
  const answered = now.toISOString();
  const made = (tool: string) =>
    patterns.split('\n').map((pattern): Rule => ({ tool, pattern, decision: 'allow', answered }));
  switch (proposal.kind) {
    case 'command': {
      if (hostsIn(proposal.permissions).length > 0) return made(NETWORK);
      const permissions = proposal.permissions.flatMap(
        (one) => Permission.safeParse(one).data ?? [],
      );
      const bounds = {
        permissions,
        ...(proposal.confinement !== 'none' && { sandbox: true as const }),
      };
      return made(runTerminalCmd.name).map((rule) => ({ ...rule, ...bounds }));
    }
    case 'edit':
      return toolsLike(proposal.tool).flatMap(made);
    case 'call': {
      const { offer } = proposal;
      if (!offer) return made('web');
      const { server, definition } = offer;
      return made(`mcp:${server}`).map((rule) => ({ ...rule, definition }));
    }
    case 'elicitation':
      return [];
  }
}

/** The rules that people's answers made for one conversation. They are forgotten when the bridge ends. */
export class AnsweredRules {
  readonly #rules = new Map<string, readonly Rule[]>();

  /** The conversations that got none for the longest time are forgotten when there are too many. */
  add(conversationId: string, rules: readonly Rule[]): void {
    const known = this.of(conversationId);
    this.#rules.delete(conversationId);
    this.#rules.set(conversationId, [...known, ...rules].slice(-MAX_RULES));
    const [oldest] = this.#rules.keys();
    if (oldest !== undefined && this.#rules.size > MAX_CONVERSATIONS) this.#rules.delete(oldest);
  }

  of(conversationId: string): readonly Rule[] {
    return this.#rules.get(conversationId) ?? [];
  }
}

/** Far more than people answer while a bridge runs. */
const MAX_CONVERSATIONS = 1_000;
const MAX_RULES = 1_000;

/** One thing that the question shows, with the pattern that matches it alone. */
interface ShownSubject {
  readonly pattern: string;
  readonly problemOf: (pattern: string) => string | undefined;
}

function subjectsOf(proposal: Proposal): readonly ShownSubject[] | undefined {
  switch (proposal.kind) {
    case 'command':
      return commandsOf(proposal);
    case 'edit': {
      const { path, operation } = proposal;
      if (operation === 'delete' || toolsLike(proposal.tool).length === 0) return undefined;
      const problemOf = (pattern: string) =>
        matchesWildcard(pattern, path) ? undefined : `The pattern does not match ${path}.`;
      return [{ pattern: literalPattern(path), problemOf }];
    }
    case 'call': {
      if (!proposal.offer) return pagesOf(proposal);
      const own = literalPattern(`${proposal.offer.server}/${proposal.offer.tool}`);
      const problemOf = (pattern: string) =>
        pattern === own ? undefined : `The pattern of this tool is ${own}.`;
      return [{ pattern: own, problemOf }];
    }
    case 'elicitation':
      return undefined;
  }
}

/**
 * The hosts of a command that wants nothing else of a person: any later command may reach them. Undefined for a line
 * that shells read differently, or that a rule cannot allow.
 */
function commandsOf({
  command,
  permissions,
  confinement,
}: Extract<Proposal, { kind: 'command' }>): readonly ShownSubject[] | undefined {
  const hosts = hostsIn(permissions);
  if (hosts.length > 0) return hosts.length === permissions.length ? hosts.map(hostOf) : undefined;
  // A rule that opened the whole network would open more than the command.
  if (permissions.includes('network') && confinement !== 'none') return undefined;
  const line = parseCommandLine(command);
  if (!line.isPlain || permissions.includes('all') || fedCommands(line).size > 0) return undefined;
  if (line.commands.some(({ words }) => CHANGES_SHELL.has(words[0] ?? ''))) return undefined;
  const texts = new Set(line.commands.map(({ text }) => withoutBounds(text)));
  return [...texts].map((text) => ({
    pattern: literalPattern(text),
    problemOf: (pattern) => problemOfCommand(pattern, text),
  }));
}

function hostOf(host: string): ShownSubject {
  const problemOf = (pattern: string) =>
    isHostPattern(pattern, host) ? undefined : `The pattern of this host is ${host}.`;
  return { pattern: host, problemOf };
}

/** The host itself, or all names below a part of its name that has a dot, at the same port. */
function isHostPattern(pattern: string, host: string): boolean {
  if (pattern === host) return true;
  const [own, given] = [splitPattern(host), splitPattern(pattern)];
  const below = /^\*(\.[^*?[]+\.[^*?[]+)$/.exec(given.name)?.[1];
  return below !== undefined && own.port === given.port && own.name.endsWith(below);
}

/** They change what the commands after them do, so a rule for each command would not be about the same. */
const CHANGES_SHELL: ReadonlySet<string> = new Set(
  (
    '. alias bind builtin command declare enable eval exec export hash let local read readonly set shopt source trap ' +
    'typeset umask unalias unset'
  ).split(' '),
);

/** A pattern with wildcards keeps the program's name, and none that can run any other program. */
function problemOfCommand(pattern: string, text: string): string | undefined {
  if (!matchesWildcard(pattern, text)) return `The pattern does not match "${text}".`;
  if (isLiteral(pattern)) return undefined;
  const [name = ''] = parseCommandLine(text).commands[0]?.words ?? [];
  if (!/^[\w./+-]+$/.test(name) || runsOthers(name)) {
    return `"${name}" can run other commands, so its pattern has no wildcard.`;
  }
  const isNamed = literalStart(pattern).startsWith(`${name} `);
  return isNamed ? undefined : `The pattern begins with "${name} " before its first wildcard.`;
}

/** Of the site that the question names. */
function pagesOf({ tool, arguments: args }: Extract<Proposal, { kind: 'call' }>) {
  const { url, site } = args;
  if (tool !== webFetch.name || typeof url !== 'string' || typeof site !== 'string')
    return undefined;
  const problemOf = (pattern: string) =>
    isOfSite(pattern, site) && allowsPage(pattern, url)
      ? undefined
      : `The pattern has the form https://${site}/* and matches the address.`;
  return [{ pattern: `*://${site}/*`, problemOf }];
}

/** The site itself, or all names below a part of its name that has a dot: `*.example.com`. */
function isOfSite(pattern: string, site: string): boolean {
  const [, , named = ''] = /^(\*|https?):\/\/([^/]*)\//.exec(pattern) ?? [];
  if (named === site) return true;
  const below = /^\*(\.[^*?]+\.[^*?]+)$/.exec(named)?.[1];
  return below !== undefined && site.endsWith(below);
}

/** The tools that change a file's content as the tool does: none for a tool whose every call asks. */
function toolsLike(name: string): readonly string[] {
  const tool = findTool(name)?.name;
  return EDITS.some((edit) => edit === tool) ? EDITS : [];
}

const EDITS = [strReplace.name, editFile.name, editNotebook.name, write.name];

/** The names that a rule may use for tools, and the tools that each name stands for. */

import type { ToolFactsHere } from '../../packages/host/index.ts';
import { nameInLine, shorten } from '../../shared/text/plain-sight.ts';
import { matchesWildcard } from '../../shared/text/wildcard.ts';
import { OWN_TOOLS, toolsRunBy } from '../../shared/tools/catalogue.ts';
import type { ToolDefinition } from '../../shared/tools/definition.ts';
import { RULE_LIMITS } from './shell/limits.ts';

/** The category of rules about the hosts that commands reach: network-verdict.ts. No tool is in it. */
export const NETWORK = 'network';

/** Categories of tools by effect. `web` is about the tools that reach the web, and the pages that a message names. Each MCP server is a category, `mcp:<server>`. */
const CATEGORIES = ['read', 'edit', 'command', 'web', NETWORK] as const;
type Category = (typeof CATEGORIES)[number] | `mcp:${string}`;

/** The part of a tool that rules use. */
export type NamedTool = Pick<
  ToolFactsHere,
  'name' | 'aliases' | 'effect' | 'reaches' | 'changesContent' | 'heldWith' | 'origin' | 'claims'
>;

/** The part of a rule that selects tools; rules.ts has the whole rule. */
interface NamingRule {
  readonly tool: string;
  readonly decision: 'allow' | 'ask' | 'deny';
  readonly definition?: string | undefined;
}

/**
 * A rule that forbids or asks also applies to each tool that does the same under another name: an owner who forbids
 * `edit_file` does not want `write` to run. A rule that allows applies to its tool alone.
 */
export function isFor(rule: NamingRule, tool: NamedTool): boolean {
  if (!isForDefinition(rule, tool)) return false;
  const { tool: pattern, decision } = rule;
  const names = decision === 'allow' ? namesOf(tool) : strictNamesOf(tool);
  return [categoryOf(tool), ...names].some((name) => matchesWildcard(pattern, name));
}

/**
 * A rule that allows an offered tool applies to one definition, because a server can put another tool behind the name.
 */
function isForDefinition({ decision, definition }: NamingRule, { claims }: NamedTool): boolean {
  if (definition !== undefined) return definition === claims?.digest;
  return decision !== 'allow' || claims === undefined;
}

/** A sentence on why no rule can have this name; undefined for a permitted name. */
export function problemOfName(pattern: string): string | undefined {
  // The servers are not known here, and they come and go.
  if (/^mcp[:_*]/.test(pattern)) return undefined;
  if (KNOWN_NAMES.some((name) => matchesWildcard(pattern, name))) return undefined;
  const shown = nameInLine(shorten(pattern, RULE_LIMITS.maxNameChars));
  if (
    toolsRunBy('edge').some((tool) => namesOf(tool).some((name) => matchesWildcard(pattern, name)))
  ) {
    return `${shown} touches no machine, so no rule applies to it: remove this rule`;
  }
  return `there is no tool or category named ${shown}; the nearest name is ${nearestTo(shown)}`;
}

function categoryOf({ effect, origin, reaches }: NamedTool): Category {
  if (origin) return `mcp:${origin.server}`;
  if (reaches === 'web') return reaches;
  switch (effect) {
    case 'read':
      return 'read';
    case 'write':
      return 'edit';
    case 'execute':
      return 'command';
  }
}

function namesOf({ name, aliases }: Pick<ToolDefinition, 'name' | 'aliases'>): readonly string[] {
  return [name, ...aliases];
}

/** Nearest by edit distance, ignoring case. Of equally near names, one with a shared beginning wins. */
function nearestTo(name: string): string {
  const wanted = name.toLowerCase();
  const scored = KNOWN_NAMES.map((known) => {
    const folded = known.toLowerCase();
    const startsAlike = folded.startsWith(wanted) || wanted.startsWith(folded);
    return { known, score: distance(wanted, folded) - (startsAlike ? 1 : 0) };
  });
  return scored.reduce((best, each) => (each.score < best.score ? each : best)).known;
}

/** Levenshtein distance: how many characters to add, leave out or change. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [above, char] of [...a].entries()) {
    const next = [above + 1];
    for (let at = 0; at < b.length; at++) {
      const changed = (row[at] ?? 0) + (b[at] === char ? 0 : 1);
      next.push(Math.min(changed, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

const ON_BRIDGES = [...toolsRunBy('bridge'), ...OWN_TOOLS];

/** Of the catalogue alone: a person may forbid what guests or plans change without forbidding all edits. */
const CHANGING = toolsRunBy('bridge').filter(({ changesContent }) => changesContent);

/** Made once for each tool: a search asks for every path that it finds. */
const strictNames = new WeakMap<NamedTool, readonly string[]>();

/** The names whose rules that forbid or ask hold the tool. */
function strictNamesOf(tool: NamedTool): readonly string[] {
  const known = strictNames.get(tool);
  if (known) return known;
  const held = ON_BRIDGES.filter(({ name }) => tool.heldWith.includes(name));
  const changes = [tool, ...held].some(({ changesContent }) => changesContent);
  const made = [tool, ...held, ...(changes ? CHANGING : [])].flatMap(namesOf);
  strictNames.set(tool, made);
  return made;
}

/** Categories come first: of two equally near names the broader one is proposed. */
const KNOWN_NAMES: readonly string[] = [...CATEGORIES, ...ON_BRIDGES.flatMap(namesOf)];

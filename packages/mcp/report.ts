/** The report on MCP servers for people: their state, and what the agent could read. Pure. */
import { MCP_REPORT_LIMITS } from '../../shared/limits.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import type { McpServerReport } from '../../shared/wire/mcp-servers.ts';
import type { McpServerState } from './server.ts';

/** The first servers and entries that fit. */
export function reportServers(
  servers: readonly { readonly name: string; readonly state: McpServerState }[],
  cut: ReadonlyMap<string, number> = new Map(),
): McpServerReport[] {
  const { maxServers, maxChars } = MCP_REPORT_LIMITS;
  const shown = servers.slice(0, maxServers);
  const reports = shown.map(({ name, state }) => {
    const cutCount = cut.get(name) ?? 0;
    return { ...reportOf(name, state), ...(cutCount > 0 && { cutCount }) };
  });
  // Entries may take what the servers themselves leave.
  let left = maxChars - JSON.stringify(reports.map(withoutEntries)).length;
  const fitting = <Entry>(entries: readonly Entry[]): Entry[] =>
    entries.filter((entry) => {
      left -= JSON.stringify(entry).length + 1;
      return left >= 0;
    });
  return reports.map((report) => ({
    ...report,
    resources: fitting(report.resources),
    prompts: fitting(report.prompts),
  }));
}

function reportOf(name: string, state: McpServerState): McpServerReport {
  const empty = { resources: [], resourceCount: 0, prompts: [], promptCount: 0, toolCount: 0 };
  if (state.state === 'starting') return { name, state: 'starting', ...empty };
  if (state.state === 'down') return { name, ...state, reason: cut(state.reason), ...empty };
  const { about, tools, offering } = state;
  const { maxEntries } = MCP_REPORT_LIMITS;
  const resources = offering.resources
    .slice(0, maxEntries)
    .map((resource) => ({ uri: cut(resource.uri), name: cut(resource.title ?? resource.name) }));
  const prompts = offering.prompts.slice(0, maxEntries).map((prompt) => ({
    name: cut(prompt.name),
    ...(prompt.title !== undefined && { title: cut(prompt.title) }),
  }));
  return {
    name,
    state: 'ready',
    about: cut(about),
    toolCount: tools.length,
    resources,
    prompts,
    resourceCount: offering.resources.length,
    promptCount: offering.prompts.length,
  };
}

function withoutEntries(report: McpServerReport): McpServerReport {
  return { ...report, resources: [], prompts: [] };
}

function cut(text: string): string {
  const { maxTextChars } = MCP_REPORT_LIMITS;
  return inOneLine(text.slice(0, maxTextChars)).slice(0, maxTextChars);
}

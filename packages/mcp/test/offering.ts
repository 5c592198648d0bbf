/** The running servers of a list, and a way to call what they offer as the bridge does. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import type { McpServerReport } from '../../../shared/wire/mcp-servers.ts';
import type { ToolResult } from '../../../shared/wire/tunnel.ts';
import { temporaryFolder } from '../../../test/local/temporary-folder.ts';
import { Offers } from '../../host/offers.ts';
import type { ToolContext } from '../../host/tool.ts';
import { type McpPlace, McpServers } from '../servers.ts';

export const FIXTURE = {
  command: process.execPath,
  args: [join(import.meta.dirname, '../../../test/far-ends/mcp-server.ts')],
};

export interface Offering {
  /** Of the list. */
  readonly folder: string;
  readonly workspace: string;
  readonly offers: Offers;
  readonly reports: () => McpServerReport[];
  readonly names: () => string[];
  /** Writes the list of servers anew. */
  readonly list: (servers: object) => void;
  /** Resolves when a tool of this name is offered. */
  readonly until: (name: string) => Promise<void>;
  /** Resolves when they are gone. */
  readonly end: () => Promise<void>;
  readonly call: (name: string, args?: object, changes?: Calling) => Promise<ToolResult>;
}

type Calling = Partial<
  Pick<ToolContext, 'signal' | 'onOutput' | 'elicit' | 'callId' | 'conversationId' | 'mayRepeat'>
>;

/** The part of a context that these tools use. */
const CONTEXT: Required<Calling> = {
  signal: new AbortController().signal,
  onOutput: () => {},
  elicit: async () => ({ decision: 'expired' }),
  callId: 'call_test',
  conversationId: 'conv_test',
  mayRepeat: false,
};

/** The server of far-ends/mcp-server.ts, once it offers this tool. `more` are fields of its entry in the list. */
export async function startDemo(tool: string, more: object = {}): Promise<Offering> {
  const offering = startServers({ demo: { ...FIXTURE, ...more } });
  await offering.until(tool);
  return offering;
}

export function startServers(servers: object, place: Partial<McpPlace> = {}): Offering {
  const base = temporaryFolder();
  const [folder, workspace] = [join(base, 'state'), join(base, 'workspace')];
  for (const made of [folder, workspace]) mkdirSync(made);
  const file = join(folder, 'mcp.json');
  const list = (mcpServers: object) => writeFileSync(file, JSON.stringify({ mcpServers }));
  list(servers);
  const offers = new Offers();
  const running = new McpServers({
    workspace,
    file,
    offers,
    environment: process.env,
    onChange: () => {},
    ...place,
  });
  running.start();
  onTestFinished(() => running.end());
  const names = () => offers.set(() => true)?.offers.map(({ name }) => name) ?? [];
  return {
    folder,
    workspace,
    offers,
    names,
    list,
    reports: () => running.reports,
    end: () => running.end(),
    until: async (name) => {
      await vi.waitFor(() => expect(names()).toContain(name), { interval: 20 });
    },
    call: async (name, args = {}, changes = {}) => {
      const call = offers.find(name)?.read(args, 'conv_test');
      if (call === undefined) throw new Error(`there is no ${name}`);
      const context = { ...CONTEXT, ...changes } as Parameters<typeof call.propose>[0];
      return await (await call.propose(context)).apply(context);
    },
  };
}

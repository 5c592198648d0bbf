/** The servers of a list at work, and a way to call what they offer as the bridge does. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { type McpPlace, McpServers } from '../../../bridge/mcp/servers.ts';
import type { ToolContext } from '../../../bridge/tools/executor.ts';
import { Offers } from '../../../bridge/tools/offers.ts';
import type { McpServerReport } from '../../../shared/wire/mcp-servers.ts';
import type { ToolResult } from '../../../shared/wire/tunnel.ts';

export const FIXTURE = {
  command: process.execPath,
  args: [join(import.meta.dirname, '../../far-ends/mcp-server.ts')],
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
  /** Resolves when they have ended. */
  readonly end: () => Promise<void>;
  readonly call: (name: string, args?: object, changes?: Calling) => Promise<ToolResult>;
}

type Calling = Partial<
  Pick<ToolContext, 'signal' | 'onOutput' | 'elicit' | 'conversationId' | 'mayRepeat'>
>;

/** The part of a context that these tools use. */
const CONTEXT: Required<Calling> = {
  signal: new AbortController().signal,
  onOutput: () => {},
  elicit: async () => ({ decision: 'expired' }),
  conversationId: 'conv_test',
  mayRepeat: false,
};

export function startServers(servers: object, place: Partial<McpPlace> = {}): Offering {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'drawbridge-mcp-')));
  const [folder, workspace] = [join(base, 'state'), join(base, 'workspace')];
  for (const made of [folder, workspace]) mkdirSync(made);
  const file = join(folder, 'mcp.json');
  const list = (mcpServers: object) => writeFileSync(file, JSON.stringify({ mcpServers }));
  list(servers);
  const offers = new Offers();
  const running = new McpServers({
    ...{ workspace, file, offers, environment: process.env },
    onChange: () => {},
    ...place,
  });
  running.start();
  onTestFinished(async () => {
    await running.end();
    rmSync(base, { recursive: true });
  });
  const names = () => offers.set(() => true)?.offers.map(({ name }) => name) ?? [];
  return {
    ...{ folder, workspace, offers, names, list },
    ...{ reports: () => running.reports, end: () => running.end() },
    until: async (name) => {
      const options = { timeout: 15_000, interval: 20 };
      await vi.waitFor(() => {
        if (!names().includes(name)) throw new Error(`${name} is not among ${names()}`);
      }, options);
    },
    call: async (name, args = {}, changes = {}) => {
      const call = offers.find(name)?.read(args);
      if (call === undefined) throw new Error(`there is no ${name}`);
      const context = { ...CONTEXT, ...changes } as Parameters<typeof call.propose>[0];
      return await (await call.propose(context)).apply(context);
    },
  };
}

/**
 * `npm run bench:mcp`: measures a call of an MCP tool through the bridge beside the SDK alone, and the bridge's start
 * with five MCP servers beside its start without. Both of a pair are measured in turns.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { WebSocketServer } from 'ws';
import { McpServers } from '../bridge/mcp/servers.ts';
import type { ToolContext } from '../bridge/tools/executor.ts';
import { Offers } from '../bridge/tools/offers.ts';
import { newBridgeId } from '../shared/ids.ts';
import { median, percentile } from './statistics.ts';

const CALLS = 1_000;
const STARTS = 10;
const SERVERS = 5;
const ROOT = join(import.meta.dirname, '..');
const SERVER = { command: process.execPath, args: [join(ROOT, 'test/far-ends/mcp-server.ts')] };
const ARGUMENTS = { words: 'Hello' };

/** The part of a call's context that the tools of servers use. */
const CONTEXT = {
  signal: new AbortController().signal,
  onOutput: () => {},
  mayRepeat: false,
} as unknown as ToolContext;

await measureCalls();
await measureStarts();

async function measureCalls(): Promise<void> {
  const folder = newFolder({ demo: SERVER });
  const offers = new Offers();
  const file = join(folder, 'state', 'mcp.json');
  const servers = new McpServers({
    workspace: join(folder, 'workspace'),
    file,
    offers,
    environment: process.env,
    onChange: () => {},
  });
  servers.start();
  while (offers.find('mcp_demo_echo') === undefined) await turn();
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StdioClientTransport(SERVER));
  const alone = () => timeOf(() => client.callTool({ name: 'echo', arguments: ARGUMENTS }));
  const bridged = () =>
    timeOf(async () => {
      const call = offers.find('mcp_demo_echo')?.read(ARGUMENTS, 'conv_bench');
      await (await call?.propose(CONTEXT))?.apply(CONTEXT);
    });
  const [bridgedMs, aloneMs] = await inTurns(CALLS, bridged, alone);
  report('a call of an MCP tool', bridgedMs, 'the SDK alone', aloneMs);
  await client.close();
  await servers.end();
  rmSync(folder, { recursive: true });
}

async function measureStarts(): Promise<void> {
  const list = Object.fromEntries(Array.from({ length: SERVERS }, (_, n) => [`s${n}`, SERVER]));
  const [withMs, withoutMs] = await inTurns(
    STARTS,
    () => startBridge(list),
    () => startBridge({}),
  );
  report(`start with ${SERVERS} servers`, withMs, 'without', withoutMs);
}

/** From the start of its process to its hello. */
async function startBridge(mcpServers: object): Promise<number> {
  const folder = newFolder(mcpServers);
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const config = {
    url: `http://127.0.0.1:${port}`,
    token: 'bench',
    bridgeId: newBridgeId(crypto.randomUUID()),
    stateDir: join(folder, 'state'),
    workspaceDir: join(folder, 'workspace'),
  };
  const program = `import { runBridge } from '${join(ROOT, 'bridge/run.ts')}';
    const config = JSON.parse(process.argv[1]);
    const ending = new AbortController();
    process.once('SIGTERM', () => ending.abort());
    const own = { environment: process.env, asksAtTerminal: false, onStatus: () => {} };
    await runBridge({ ...config, ...own }, ending.signal);`;
  const args = ['--input-type=module', '-e', program, JSON.stringify(config)];
  const startedMs = performance.now();
  const bridge = spawn(process.execPath, args, { stdio: 'ignore' });
  const [socket] = await once(server, 'connection');
  await once(socket, 'message');
  const tookMs = performance.now() - startedMs;
  // Its servers end with it, and do not slow the next start.
  bridge.kill('SIGTERM');
  await once(bridge, 'exit');
  server.close();
  rmSync(folder, { recursive: true, force: true });
  return tookMs;
}

/** Each work returns its time in milliseconds. */
async function inTurns(
  times: number,
  ...works: readonly (() => Promise<number>)[]
): Promise<[number[], number[]]> {
  const samples: number[][] = works.map(() => []);
  for (const work of works) await work(); // The first one of each kind loads code.
  for (let index = 0; index < times; index++) {
    for (const [kind, work] of works.entries()) {
      samples[kind]?.push(await work());
    }
  }
  const [first = [], second = []] = samples;
  return [first, second];
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

function report(name: string, ms: number[], other: string, otherMs: number[]): void {
  const show = (samples: number[]) =>
    `${median(samples).toFixed(2)} ms (p95 ${percentile(samples, 0.95).toFixed(2)})`;
  const ratio = (median(ms) / median(otherMs)).toFixed(2);
  process.stdout.write(`${name}: ${show(ms)}; ${other}: ${show(otherMs)}; ${ratio}x\n`);
}

function newFolder(mcpServers: object): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'drawbridge-mcp-bench-')));
  for (const name of ['workspace', 'state']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'state', 'mcp.json'), JSON.stringify({ mcpServers }));
  return folder;
}

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10));
}

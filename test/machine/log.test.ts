import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runBridge } from '../../bridge/run.ts';
import { logTo } from '../../machine/log.ts';
import type { LogEntry, LogIds } from '../../machine/log-line.ts';
import { responseIdOf } from '../../shared/ids.ts';
import type { ToolCall } from '../../shared/wire/tunnel.ts';
import { temporaryWorkspace } from '../bridge/tools/temporary-workspace.ts';
import { ScriptedTunnel } from '../bridge/tunnel/scripted-tunnel.ts';
import { newCall } from '../bridge/tunnel/session-bench.ts';

interface Logged {
  readonly entry: LogEntry;
  readonly line: string | null;
}

/** A real bridge in this process, with everything that it logs. */
async function startBridge(files: Record<string, string> = {}) {
  const tunnel = await ScriptedTunnel.open();
  const place = await temporaryWorkspace({ 'a.txt': 'a\n' });
  const stateDir = join(place.root, '..', 'state');
  await mkdir(stateDir);
  for (const [name, text] of Object.entries(files)) await writeFile(join(stateDir, name), text);
  const logged: Logged[] = [];
  const ending = new AbortController();
  const config = {
    url: tunnel.url,
    token: 'secret',
    bridgeId: `bridge_${randomUUID()}`,
    stateDir,
    workspaceDir: place.root,
    environment: process.env,
    asksAtTerminal: false,
    onStatus: () => {},
  };
  const ended = logTo(
    (entry, line) => logged.push({ entry, line }),
    () => runBridge(config, ending.signal),
  );
  onTestFinished(async () => {
    ending.abort();
    await ended.catch(() => {});
    await tunnel[Symbol.asyncDispose]();
  });
  const connection = await tunnel.welcomed();
  const about = (event: LogEntry['event']) => logged.filter(({ entry }) => entry.event === event);
  const run = async (call: ToolCall) => {
    connection.send({ type: 'call', call });
    return (await connection.next('result')).result;
  };
  return { stateDir, run, about, logged };
}

/** A call of a run, with the ids that its lines have. */
function traced(tool: string, args: Record<string, unknown>): { call: ToolCall; ids: LogIds } {
  const known = newCall(tool, args);
  const { callId, conversationId: conversation } = known;
  const [run, trace] = [responseIdOf(conversation, 7), randomUUID().replaceAll('-', '')];
  return { call: { ...known, run, trace }, ids: { conversation, run, call: callId, trace } };
}

test('the end of a call has its ids, and no line at the terminal', async () => {
  const { run, logged } = await startBridge();
  const good = traced('read_file', { target_file: 'a.txt' });
  const bad = traced('read_file', { target_file: 'none.txt' });
  await run(good.call);
  await run(bad.call);
  const ended = { event: 'call_ended', tool: 'read_file', durationMs: expect.any(Number) };
  expect(logged).toEqual([
    { entry: { ...ended, ...good.ids, status: 'success' }, line: null },
    { entry: { ...ended, ...bad.ids, status: 'error', code: 'FILE_NOT_FOUND' }, line: null },
  ]);
});

test('trouble that a call meets on this machine has the ids of the call', async () => {
  const { run, about, stateDir } = await startBridge({ 'policy.json': '{"rules":[' });
  const { call, ids } = traced('read_file', { target_file: 'a.txt' });
  expect(await run(call)).toMatchObject({ code: 'DENIED' });
  const message = expect.stringContaining(join(stateDir, 'policy.json'));
  expect(about('rules_unreadable')).toContainEqual({
    entry: { event: 'rules_unreadable', ...ids, message },
    line: message,
  });
});

test('what an MCP server wrote before its end is for the terminal, not for a log file', async () => {
  const words = 'error: the key sk-of-the-person is wrong';
  const args = ['-e', `console.error(${JSON.stringify(words)}); process.exit(1)`];
  const mcpServers = { tickets: { command: process.execPath, args } };
  const { about } = await startBridge({ 'mcp.json': JSON.stringify({ mcpServers }) });
  await vi.waitFor(() => expect(about('mcp_server_down')).not.toEqual([]));
  const [down] = about('mcp_server_down');
  expect(down?.line).toContain(words);
  expect(down?.entry).toEqual({
    event: 'mcp_server_down',
    server: 'tickets',
    message: 'The MCP server tickets is down: `drawbridge mcp test tickets` says why.',
  });
});

/** How soon the bridge is ready in a large folder, and how much memory it takes there. */
import { chmodSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readWranglerConfig } from '../../local/runtime/wrangler-config.ts';
import type { IndexReport } from '../../machine/bridge-status.ts';
import { INDEX_LIMITS } from '../../packages/code-index/index.ts';
import { memoryOf } from '../family.ts';
import { giveAway } from '../folder.ts';
import { type House, startHouse } from '../house.ts';
import { connectRealBridge } from '../real-bridge.ts';
import { frame, startRecordingUpstream } from '../recording-upstream.ts';
import { memory, type Part, type ToolFigure, timesOf } from './part.ts';
import { installPackages, sourceName, writeSources } from './sources.ts';

const STARTS = 5;
const MAX_MB = 90;
/** After this the bridge has done what a start or a check leaves to do. */
const SETTLED_MS = 5_000;

export const measureReady: Part = async ({ large }, signal) => {
  const wrangler = await readWranglerConfig(join(import.meta.dirname, '../../wrangler.toml'));
  await using upstream = await startRecordingUpstream(answer);
  await using house = await startHouse({ upstream, wrangler, signal });
  writeSources(house.workspaceDir, large);
  installPackages(house.workspaceDir);
  giveAway(house.workspaceDir);
  chmodSync(dirname(house.workspaceDir), 0o711); // Its new owner must get there.
  const connectedMs: number[] = [];
  const answeredMs: number[] = [];
  for (let start = 0; start <= STARTS; start++) {
    const startedMs = performance.now();
    await using bridge = await connectRealBridge(house);
    connectedMs.push(performance.now() - startedMs);
    await call(house, bridge.bridgeId, 'read_file');
    answeredMs.push(performance.now() - startedMs);
  }
  return [
    // The first start bundles the sources of a clone.
    timesOf(`the bridge is ready in ${large} files`, connectedMs.slice(1), 1_500),
    timesOf('and a first message has read a file', answeredMs.slice(1)),
    ...(await ofMemory(house, signal)),
  ];
};

async function ofMemory(house: House, signal: AbortSignal): Promise<ToolFigure[]> {
  if (!existsSync('/proc/self/smaps_rollup')) return [memory('the bridge', null)];
  const indexed = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => indexed.reject(signal.reason));
  const onIndex = ({ state }: IndexReport) => state !== 'building' && indexed.resolve();
  await using bridge = await connectRealBridge(house, onIndex);
  await indexed.promise;
  await sleep(SETTLED_MS, undefined, { signal });
  const busy = memory('the bridge with the thread of its index', ownMb());
  // A loaded machine takes a while to take the thread down.
  await sleep(INDEX_LIMITS.idleMs + SETTLED_MS, undefined, { signal });
  const idle = memory('the bridge idle, its index on disk', ownMb(), MAX_MB);
  const said = await call(house, bridge.bridgeId, 'read_lints');
  if (!said.includes('no errors or warnings')) {
    const why = /not checked: [^"\\]*/.exec(said)?.[0];
    process.stderr.write(`ready: the memory with TypeScript is skipped (${why})\n`);
    return [busy, idle];
  }
  await sleep(SETTLED_MS, undefined, { signal });
  return [
    busy,
    idle,
    memory('the bridge after a check by TypeScript', ownMb()),
    memory('TypeScript and the sandbox', belowMb()),
  ];
}

/** Of the bridge's process. */
function ownMb(): number {
  return bridge().mb;
}

/** Of the processes that the bridge has started. */
function belowMb(): number {
  const [, ...below] = memoryOf(bridge().pid);
  return below.reduce((sum, { mb }) => sum + mb, 0);
}

function bridge() {
  const found = memoryOf(process.pid).find(({ command }) => command === 'bridge-host');
  if (!found) throw new Error('The bridge is gone.');
  return found;
}

/** A new conversation whose message makes the model call the tool on one file. Returns the stream. */
async function call(house: House, bridgeId: string, tool: keyof typeof ARGUMENTS): Promise<string> {
  const messages = [{ role: 'user', content: `Call ${tool}.` }];
  const body = { bridgeId, model: 'recorded', messages, stream: true };
  let said = '';
  const onText = (text: string) => {
    said += text;
  };
  const { ended } = await house.request('chat/completions', { method: 'POST', body, onText });
  await ended;
  if (!said.includes('"status":"success"')) throw new Error(`The call of ${tool} failed: ${said}`);
  return said;
}

const ARGUMENTS = {
  read_file: { target_file: sourceName(0) },
  read_lints: { paths: [sourceName(0)] },
} as const;

/** The model: calls the tool that the message names, then says that it is done. */
function answer(body: string): string {
  const isCalled = body.includes('"role":"tool"');
  const name = body.includes('Call read_lints.') ? 'read_lints' : 'read_file';
  const asked = { name, arguments: JSON.stringify(ARGUMENTS[name]) };
  const calls = [{ index: 0, id: 'call_1', type: 'function', function: asked }];
  const delta = isCalled ? { content: 'Done.' } : { tool_calls: calls };
  const ending = { delta: {}, finish_reason: isCalled ? 'stop' : 'tool_calls' };
  return `${frame({ delta })}${frame(ending)}data: [DONE]\n\n`;
}

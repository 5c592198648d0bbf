/** Trees of agents from seeds: any object of the tree is lost at any moment, and the tree must come out the same. */
import { runInDurableObject } from 'cloudflare:test';
import { vi } from 'vitest';
import { Random } from '../../../../bench/fuzz/random.ts';
import { newBridgeId } from '../../../../shared/ids.ts';
import type { ConversationView } from '../../../../shared/wire/documents.ts';
import {
  framesOf,
  type ScriptedCall,
  type ScriptedRequest,
  streamOf,
} from '../../../far-ends/reply-script.ts';
import { ask, call } from '../../api.ts';
import { tunnelOf } from '../../tunnel/scripted-bridge.ts';
import { conversationObject } from '../conversing.ts';
import { CountingBridge } from '../schedules/bridge.ts';
import { resultsIn, taskCall, taskOf } from './tree.ts';

/** Lost objects of one tree: fewer than what ends a run as RECOVERY_EXHAUSTED. */
const MAX_CRASHES = 3;
/** Trees at once: most of a tree's time is waiting. */
const WORKERS = 5;
const LOOK_MS = 10;
/** The model takes as long, or up to three times as long: longer than a look, so that objects are lost meanwhile. */
const ANSWER_MS = 80;
const STUCK_MS = 45_000;

/** What an agent does, turn by turn: calls of the bridge and of subagents, and then its result. */
interface Agent {
  readonly name: string;
  readonly reads: number;
  readonly children: readonly Agent[];
}

function planAgent(random: Random, name: string, depth: number): Agent {
  const count = depth === 0 ? 1 + random.below(4) : depth === 1 && random.chance(0.3) ? 2 : 0;
  const children = Array.from({ length: count }, (_, index) =>
    planAgent(random, `${name}.${index}`, depth + 1),
  );
  return { name, reads: random.below(3), children };
}

function* allIn(agent: Agent): Generator<Agent> {
  yield agent;
  for (const child of agent.children) yield* allIn(child);
}

/** Everything that was wrong, each with its seed. */
export async function runTrees(seeds: readonly number[]): Promise<string[]> {
  const agents = new Map<string, Agent>();
  const results = new Map<string, unknown[]>();
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = (await new Request(input, init).json()) as ScriptedRequest;
    const agent = agents.get(taskOf(request));
    if (!agent) throw new Error(`no agent ${taskOf(request)}`);
    await sleep(ANSWER_MS * (1 + (request.messages.length % 3)));
    return streamOf(framesOf(replyOf(agent, request, results)));
  });
  const waiting = [...seeds];
  const failures: string[] = [];
  const before = lost;
  const work = async () => {
    for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
      const problems = await runTree(seed, agents, results);
      failures.push(...problems.map((problem) => `seed ${seed}: ${problem}`));
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  if (lost - before < seeds.length / 2) failures.push('hardly any object was lost');
  return failures;
}

function replyOf(agent: Agent, request: ScriptedRequest, results: Map<string, unknown[]>) {
  const turn = request.messages.filter(({ role }) => role === 'assistant').length;
  if (turn < agent.reads) return { calls: [readCall(`${agent.name}-${turn}`)] };
  const hasAsked = agent.children.length === 0 || turn > agent.reads;
  if (!hasAsked) {
    const type = 'generalPurpose';
    return { calls: agent.children.map(({ name }) => taskCall(name, { type })) };
  }
  if (agent.children.length > 0) results.set(agent.name, resultsIn(request));
  return { text: `Result of ${agent.name}.` };
}

function readCall(path: string): ScriptedCall {
  return { name: 'read_file', arguments: { target_file: path } };
}

async function runTree(
  seed: number,
  agents: Map<string, Agent>,
  results: Map<string, unknown[]>,
): Promise<string[]> {
  const random = new Random(seed);
  const root = planAgent(random, `tree${seed}`, 0);
  for (const agent of allIn(root)) agents.set(agent.name, agent);
  const account = `trees-${seed % 5}`;
  const bridgeId = newBridgeId(crypto.randomUUID());
  const received = () => Promise.resolve();
  const bridge = new CountingBridge(account, bridgeId, { received, acked: () => undefined });
  await bridge.connect();
  const sent = await ask(root.name, { account, bridgeId, stream: true });
  await sent.body?.cancel();
  const rootId = sent.headers.get('drawbridge-conversation-id') ?? '';
  const seen = new Set([rootId]);
  let crashes = 0;
  const lateMs = Date.now() + STUCK_MS;
  for (;;) {
    await sleep(LOOK_MS);
    const some = [rootId, random.pick([...seen])];
    const views = await Promise.all(some.map((id) => viewFor(account, id)));
    for (const id of views.flatMap(childrenIn)) seen.add(id);
    if (views[0]?.responses[0]?.status === 'completed') break;
    if (Date.now() > lateMs) return [`is stuck: ${JSON.stringify(views.map(statusOf))}`];
    if (crashes >= MAX_CRASHES || !random.chance(0.5)) continue;
    crashes++;
    await lose(random.chance(0.2) ? bridgeId : random.pick([...seen]));
  }
  bridge.leave();
  // A subagent can have started and ended since the last look.
  for (const id of seen)
    for (const child of childrenIn(await viewFor(account, id))) seen.add(child);
  return problemsOf(root, bridge, seen.size, results);
}

function problemsOf(
  root: Agent,
  bridge: CountingBridge,
  conversations: number,
  results: ReadonlyMap<string, unknown[]>,
): string[] {
  const all = [...allIn(root)];
  const problems = conversations === all.length ? [] : [`has ${conversations} conversations`];
  for (const { name, reads, children } of all) {
    for (let turn = 0; turn < reads; turn++) {
      const runs = bridge.runs.get(`${name}-${turn}`) ?? 0;
      if (runs !== 1) problems.push(`${name}-${turn} ran ${runs} times`);
    }
    const expected = children.map((child) => `Result of ${child.name}.`);
    const got = JSON.stringify(results.get(name) ?? []);
    if (got !== JSON.stringify(expected)) problems.push(`${name} got ${got}`);
  }
  return problems;
}

/** Reading wakes, as a follower does that comes back. */
async function viewFor(account: string, id: string): Promise<ConversationView | null> {
  const answer = await call(`conversations/${id}`, { account });
  return answer.ok ? await answer.json<ConversationView>() : null;
}

function childrenIn(view: ConversationView | null): string[] {
  const documents = view?.responses.flatMap((response) => response.documents) ?? [];
  return documents.flatMap(({ metadata }) => {
    const id = Object(metadata['subagent'])['conversationId'];
    return typeof id === 'string' ? [id] : [];
  });
}

function statusOf(view: ConversationView | null) {
  return [view?.title, view?.responses[0]?.status];
}

/** How many objects were lost. */
let lost = 0;

async function lose(id: string): Promise<void> {
  lost++;
  const stub = id.startsWith('bridge_') ? tunnelOf(id) : conversationObject(id);
  await runInDurableObject(stub, (_, state) => state.abort()).catch(() => undefined);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

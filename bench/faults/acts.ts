/** Rounds about what is more than one answer: each acts, kills in the middle, and looks at what is there afterwards. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClientError, createClient } from '../../client/index.ts';
import { mintToken } from '../../local/state/tokens.ts';
import { AccountStanding } from '../../shared/api/accounts.ts';
import type { Random } from '../fuzz/random.ts';
import type { FaultHouse, Target } from './house.ts';
import { type Fault, type RoundResult, STUCK_MS } from './round.ts';
import { ACTS, type Act, modelOf, traceFileOf } from './scenarios.ts';

export interface ActPlan {
  readonly round: number;
  readonly act: Act;
  readonly targets: readonly Target[];
  /** From the beginning of the act. */
  readonly killAfterMs: number;
}

/** An agent answers for most of a second; a fork is over within some tens of milliseconds. */
const KILL_WITHIN_MS = { fork: 80, deletion: 80, export: 40, agent: 1_200, undo: 400 } as const;
/** The longer a conversation, the longer a fork is between its steps. */
const LONG = 'word '.repeat(15_000);
const RETRY_MS = 50;

export function planAct(round: number, random: Random): ActPlan {
  const act = random.pick([...ACTS]);
  const both: readonly (readonly Target[])[] = [['workerd'], ['bridge'], ['workerd', 'bridge']];
  const targets = act === 'undo' ? random.pick([...both]) : (['workerd'] as const);
  return { round, act, targets, killAfterMs: random.below(KILL_WITHIN_MS[act]) };
}

export async function playAct(house: FaultHouse, plan: ActPlan): Promise<RoundResult> {
  const { act, targets, killAfterMs } = plan;
  const startedMs = performance.now();
  const signal = AbortSignal.any([AbortSignal.timeout(STUCK_MS), house.fallen]);
  let atMs: number | null = null;
  const kill = async () => {
    await sleep(killAfterMs);
    for (const target of targets) house.kill(target);
    atMs = performance.now();
  };
  let faults: Finding[];
  try {
    faults = await PLAYS[act]({ house, plan, signal, kill });
  } catch (error) {
    house.fallen.throwIfAborted();
    faults = [['stuck', String(error)]];
  }
  const recoveryMs = atMs === null ? null : performance.now() - atMs;
  return {
    targets,
    hit: act,
    recoveryMs,
    tookMs: performance.now() - startedMs,
    faults: faults.map(([fault, detail]) => ({ fault, detail })),
  };
}

type Finding = readonly [fault: Fault, detail: string];

interface Stage {
  readonly house: FaultHouse;
  readonly plan: ActPlan;
  readonly signal: AbortSignal;
  /** To be called at the beginning of the act, and awaited. */
  readonly kill: () => Promise<void>;
}

const PLAYS: Readonly<Record<Act, (stage: Stage) => Promise<Finding[]>>> = {
  async fork(stage) {
    const { client, id, conversationId } = await answered(stage);
    const killed = stage.kill();
    const options = { idempotencyKey: 'fork' };
    const { conversationId: forked } = await again(stage, () =>
      client.forkConversation(conversationId, id, options),
    );
    await killed;
    const { items } = await again(stage, () => client.listConversations());
    const isListed = items.filter((item) => item.id === forked).length === 1;
    const { responses } = await again(stage, () => client.getConversation(forked));
    return [
      ...(isListed ? [] : [['lost', `the fork ${forked} is not listed`] as const]),
      ...(items.length > 2 ? [['doubled', `${items.length} conversations`] as const] : []),
      ...(responses.length === 1 ? [] : [['lost', 'the fork is not whole'] as const]),
    ];
  },

  async deletion(stage) {
    const { client, id, conversationId, account } = await answered(stage);
    const killed = stage.kill();
    await client
      .forkConversation(conversationId, id, { idempotencyKey: 'fork' })
      .catch(() => undefined);
    await killed;
    const { url, state } = stage.house;
    const token = await mintToken(state.authSecret, { scope: 'operator' }, new Date());
    const operate = async (method: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${url}/api/v1/accounts/${account}`, { method, headers });
      if (!response.ok) throw new ClientError('INTERNAL', 'again', { status: response.status });
      return AccountStanding.parse(await response.json());
    };
    await again(stage, () => operate('DELETE'));
    for (;;) {
      const { state: reached } = await again(stage, () => operate('GET'));
      if (reached === 'deleted') break;
      await sleep(RETRY_MS, undefined, { signal: stage.signal });
    }
    const left = filesWith(join(state.storageDir, 'drawbridge-Conversation'), account);
    return left.map(
      (name) => ['lost', `${name} still has text of the account ${account}`] as const,
    );
  },

  async export(stage) {
    const { client, conversationId } = await answered(stage);
    const killed = stage.kill();
    const first = client.exportConversation(conversationId).catch(() => undefined);
    await killed;
    await first;
    const { conversation } = await again(stage, () => client.exportConversation(conversationId));
    const isWhole = conversation.responses.every(({ status }) => status === 'completed');
    return isWhole && conversation.responses.length === 1 ? [] : [['lost', 'not exported whole']];
  },

  async agent(stage) {
    const { client } = await clientOf(stage);
    const { plan, house } = stage;
    const killed = stage.kill();
    const body = {
      prompt: 'Go on.',
      model: modelOf('stream', plan.round),
      webhook: { url: house.webhookUrl },
    };
    const agent = await again(stage, () => client.createAgent(body, { idempotencyKey: 'agent' }));
    await killed;
    // Nobody reads: only what is told to the receiver shows that the answer goes on.
    const told = () => house.hooks.filter(({ agentId }) => agentId === agent.id);
    while (!told().some(({ type }) => /completed|error/.test(type))) {
      await sleep(RETRY_MS, undefined, { signal: stage.signal });
    }
    const ends = new Set(told().flatMap(({ id, type }) => (type === 'agent.completed' ? id : [])));
    const { items } = await again(stage, () => client.listAgents());
    return [
      ...(ends.size === 1 ? [] : [['lost', JSON.stringify(told())] as const]),
      ...(ends.size > 1 ? [['doubled', `${ends.size} events of the end`] as const] : []),
      ...(items.length === 1 && items[0]?.status === 'completed'
        ? []
        : [['lost', `listed as ${JSON.stringify(items)}`] as const]),
    ];
  },

  async undo(stage) {
    const { house, plan } = stage;
    const client = createClient({ url: house.url, token: house.token });
    const file = join(house.workspaceDir, traceFileOf(plan.round));
    const request = {
      model: modelOf('call', plan.round),
      bridgeId: house.state.bridgeId,
      messages: [{ role: 'user' as const, content: 'Go on.' }],
    };
    const made = await again(stage, () =>
      client.chat(request, { idempotencyKey: `u${plan.round}` }),
    );
    const { conversationId } = made;
    const killed = stage.kill();
    let status = '';
    await again(stage, async () => {
      const options = { idempotencyKey: `undo${plan.round}` };
      for await (const { event } of client.undo(conversationId, {}, options)) {
        if (event.type === 'done') status = event.status;
      }
    });
    await killed;
    const left = countLines(file);
    // A bridge that dies in the undo does not know whether it was done; the file is whole or gone.
    if (left > 1) return [['doubled', `${left} lines in ${file}`]];
    const mayStay = plan.targets.includes('bridge');
    if (left === 1 && !mayStay)
      return [['lost', `the undo ended as ${status}, and the file stays`]];
    return [];
  },
};

/** An account of this round alone, with a conversation that has one answer. */
async function answered(stage: Stage) {
  const { client, account } = await clientOf(stage);
  const request = {
    model: modelOf('stream', stage.plan.round),
    messages: [{ role: 'user' as const, content: `Go on, ${account}. ${LONG}` }],
  };
  const options = { idempotencyKey: 'first' };
  const { id, conversationId } = await again(stage, () => client.chat(request, options));
  return { client, account, id, conversationId };
}

async function clientOf({ house, plan }: Stage) {
  const account = `${plan.act}-of-round-${plan.round}-${house.state.bridgeId.slice(-8)}`;
  const secret = house.state.authSecret;
  const token = await mintToken(secret, { scope: 'user' }, new Date(), { account });
  return { account, client: createClient({ url: house.url, token }) };
}

/** Sends again what a kill has cut, as a client would. */
async function again<Answer>({ signal }: Stage, send: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      const status = error instanceof ClientError ? (error.status ?? 500) : 500;
      if (status < 500) throw error;
      await sleep(RETRY_MS, undefined, { signal });
    }
  }
}

function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(text));
}

function countLines(path: string): number {
  try {
    return readFileSync(path, 'utf8').split('\n').length - 1;
  } catch {
    return 0; // It is gone.
  }
}

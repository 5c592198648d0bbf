/** (l) Sessions: what a read costs more than with a token of AUTH_SECRET, and how soon the end of one cuts its streams. */
import {
  type Client,
  createClient,
  enter,
  type KeptSession,
  newSessionKey,
  sessionTokens,
} from '../../client/index.ts';
import { mintToken } from '../../local/state/tokens.ts';
import { alternate } from '../alternate.ts';
import { nowMs } from '../clock.ts';
import type { Figure } from '../figure.ts';
import { type House, startHouse } from '../house.ts';
import type { Ground } from '../side.ts';
import { median, percentile } from '../statistics.ts';

const WARM_UPS = 2;
const ROUNDS = 10;
/** Requests of a round, and how many wait for an answer at a time. */
const READS = 400;
const AT_ONCE = 8;
/** Conversations of the account when a session ends, and those that the session follows meanwhile. */
const SIZES = [10, 200, 2_000] as const;
const FOLLOWED = 10;

export async function measureSessions(ground: Ground): Promise<Figure[]> {
  await using house = await startHouse(ground);
  const owner = createClient({ url: house.url, token: await ownToken(house) });
  return [...(await measureReads(house, owner)), ...(await measureEnds(house, owner))];
}

async function measureReads(house: House, owner: Client): Promise<Figure[]> {
  const bare = await ownToken(house);
  const ours = await tokensOf(house, await signIn(house, owner))(undefined, undefined);
  const figures: Figure[] = [];
  for (const path of ['models', 'conversations']) {
    const rounds = await alternate({ bare, ours }, { warmUps: WARM_UPS, rounds: ROUNDS }, (token) =>
      readMany(`${house.url}/api/v1/${path}`, token),
    );
    figures.push({
      what: `GET ${path} by a session, beside a token of AUTH_SECRET`,
      unit: 'us',
      target: { maxRatio: 1.1 },
      bare: median(rounds.bare),
      ours: median(rounds.ours),
    });
  }
  return figures;
}

/** Microseconds for each request. */
async function readMany(url: string, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const startMs = nowMs();
  await inTurns(READS, async () => {
    const response = await fetch(url, { headers });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  });
  return ((nowMs() - startMs) * 1_000) / READS;
}

async function measureEnds(house: House, owner: Client): Promise<Figure[]> {
  const figures: Figure[] = [];
  const conversations: string[] = [];
  for (const size of SIZES) {
    await inTurns(size - conversations.length, async () => {
      const messages = [{ role: 'user' as const, content: 'Go on.' }];
      const { conversationId } = await owner.chat({ model: 'greeting', messages });
      conversations.push(conversationId);
    });
    const kept = await signIn(house, owner);
    const step = Math.floor(size / FOLLOWED);
    const followed = conversations.filter((_, index) => index % step === 0).slice(0, FOLLOWED);
    const token = await tokensOf(house, kept)(undefined, undefined);
    const streams = await Promise.all(followed.map((id) => openStream(house, id, token)));
    const startMs = nowMs();
    const ended = streams.map(async (stream) => {
      await stream.ended;
      return nowMs() - startMs;
    });
    await owner.endSession(kept.session);
    const times = await Promise.all(ended);
    figures.push({
      what: `a session ends, ${size} conversations: its streams are cut, p95`,
      unit: 'ms',
      bare: null,
      ours: percentile(times, 0.95),
      ...(size <= 200 && { target: { max: 2_000 } }),
    });
  }
  return figures;
}

/** Resolves once the stream is open. `ended` resolves with its end. */
async function openStream(house: House, id: string, token: string) {
  const url = `${house.url}/api/v1/conversations/${id}/events`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  const reader = response.body?.getReader();
  await reader?.read();
  const toEnd = async () => {
    while (!(await reader?.read())?.done);
  };
  return { ended: toEnd() };
}

async function signIn(house: House, owner: Client): Promise<KeptSession> {
  const { secret } = await owner.createInvitation();
  const signer = await newSessionKey();
  const holder = { name: 'bench', kind: 'machine' } as const;
  return { ...(await enter({ url: house.url }, secret, holder, signer)), signer };
}

function tokensOf({ url }: House, kept: KeptSession) {
  return sessionTokens({ url }, kept);
}

async function ownToken({ state }: House): Promise<string> {
  return await mintToken(state.authSecret, { scope: 'user' }, new Date());
}

/** Runs the work so many times, with AT_ONCE of them at a time. */
async function inTurns(times: number, work: () => Promise<void>): Promise<void> {
  let left = times;
  const worker = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

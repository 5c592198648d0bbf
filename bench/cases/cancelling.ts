/** (g) A cancel: how soon the upstream ends, so that no unwanted tokens are paid for. */
import * as z from 'zod';
import type { Answering } from '../client.ts';
import { nowMs } from '../clock.ts';
import type { Figure } from '../figure.ts';
import { type House, messageFor, startHouse } from '../house.ts';
import type { ScriptName } from '../scripts.ts';
import type { Ground } from '../side.ts';
import { StampReader } from '../stamps.ts';
import { median, percentile } from '../statistics.ts';
import type { Upstream } from '../upstream-process.ts';

/** Cancels of each kind. */
const CANCELS = 40;
const WARM_UPS = 5;
/** Each cancel comes after another number of tokens, so that the cancels hit every stage of a token's way. */
const MAX_TOKENS = 20;
/** A connection that is still open after this time was forgotten. */
const FORGOTTEN_MS = 10_000;

export async function measureCancelling({ upstream, ...ground }: Ground): Promise<Figure[]> {
  await using house = await startHouse({ upstream, ...ground });
  const streaming: number[] = [];
  const silent: number[] = [];
  for (let round = 0; round < WARM_UPS + CANCELS; round++) {
    streaming.push(await cancelText(house, upstream, 1 + (round % MAX_TOKENS)));
    silent.push(await cancelSilence(house, upstream));
  }
  return [
    ...figuresOf('while text streams', streaming.slice(WARM_UPS)),
    ...figuresOf('before the upstream’s headers', silent.slice(WARM_UPS)),
  ];
}

function figuresOf(when: string, timesMs: readonly number[]): Figure[] {
  const ms = { unit: 'ms', bare: null } as const;
  return [
    {
      ...ms,
      what: `cancel ${when}, until the upstream’s socket closed: median`,
      ours: median(timesMs),
    },
    { ...ms, what: 'the same: p95', ours: percentile(timesMs, 0.95), target: { max: 300 } },
  ];
}

async function cancelText(house: House, upstream: Upstream, tokens: number): Promise<number> {
  const reader = new StampReader(tokens);
  const seen = Promise.withResolvers<void>();
  const answering = await ask(house, 'steady', (text) => {
    reader.push(text);
    if (reader.agesMs.length === tokens) seen.resolve();
  });
  await Promise.race([seen.promise, answering.ended]);
  return await cancel(house, upstream, answering);
}

async function cancelSilence(house: House, upstream: Upstream): Promise<number> {
  const waiting = upstream.next('left waiting', AbortSignal.timeout(FORGOTTEN_MS));
  const [answering] = await Promise.all([ask(house, 'silent'), waiting]);
  return await cancel(house, upstream, answering);
}

function ask(
  house: House,
  script: ScriptName,
  onText?: (text: string) => void,
): Promise<Answering> {
  const asked = { method: 'POST', body: messageFor(script), onText } as const;
  return house.request('chat/completions', asked);
}

/** The time from sending the cancel, on its own connection, to the end of the upstream's connection. */
async function cancel(
  house: House,
  upstream: Upstream,
  { headers, ended }: Answering,
): Promise<number> {
  const hungUp = upstream.next('hung up', AbortSignal.timeout(FORGOTTEN_MS));
  const path = `chat/completions/${headers['drawbridge-response-id']}/cancel`;
  let text = '';
  const sentMs = nowMs();
  const cancelling = await house.request(path, {
    method: 'POST',
    onText: (piece) => {
      text += piece;
    },
  });
  const [{ atMs }] = await Promise.all([hungUp, cancelling.ended, ended]);
  Cancelled.parse(JSON.parse(text));
  return atMs - sentMs;
}

const Cancelled = z.object({ status: z.literal('cancelled') });

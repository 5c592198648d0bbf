import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { LOCAL_LIMITS } from '../../local/limits.ts';
import { RUN_LIMITS } from '../../shared/limits.ts';
import { deep } from '../depth.ts';
import { startScriptedModel } from '../far-ends/scripted-model.ts';
import { startHouse, until, workerdOf } from './house.ts';

const ROUNDS = deep(10);
/** Of each three responses one is polled for; the others are not asked for until they have gone on. */
const RESPONSES = 3;
const LONG = Array.from({ length: 100 }, () => 'word').join(' ');
/** So few kills in a window that the supervisor does not take them for a crash loop. */
const PAUSE_MS = Math.ceil(LOCAL_LIMITS.crashWindowMs / (LOCAL_LIMITS.maxCrashes - 2));

it('wakes what ran, whenever the kill comes', async () => {
  /** When the model was asked, by the message. */
  const asked = new Map<string, number[]>();
  const model = await startScriptedModel(({ messages }) => {
    const message = String(messages.at(-1)?.content).match(/round-\d+-\d+/)?.[0] ?? '';
    asked.set(message, [...(asked.get(message) ?? []), performance.now()]);
    return { text: LONG, delayMs: 20 };
  });
  await using house = await startHouse({ modelUrl: model.baseUrl });
  const waits: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const names = Array.from({ length: RESPONSES }, (_, index) => `round-${round}-${index}`);
    const ids = await Promise.all(names.map(submit));
    const polling = (async () => {
      await until(async () => (await statusOf(ids[0] ?? '').catch(() => '')) === 'completed');
    })();
    await sleep(randomInt(900));
    const killed = performance.now();
    const before = names.map((name) => asked.get(name)?.length ?? 0);
    const pid = workerdOf(house);
    process.kill(pid, 'SIGKILL');
    await until(() => !existsSync(`/proc/${pid}`));
    await until(() =>
      names.every((name, at) => (asked.get(name)?.length ?? 0) > (before[at] ?? 0)),
    );
    for (const name of names) waits.push((asked.get(name)?.at(-1) ?? Infinity) - killed);
    await polling;
    for (const id of ids) await until(async () => (await statusOf(id)) === 'completed');
    await sleep(Math.max(0, PAUSE_MS - (performance.now() - killed)));
  }
  waits.sort((one, other) => one - other);
  const shown = [0, 0.5, 0.9, 1].map((part) => waits[Math.floor(part * (waits.length - 1))]);
  console.log('ms from the kill until the model was asked again (min, p50, p90, max)', shown);
  expect(waits.at(-1)).toBeLessThan(WOKEN_MS);
  await model.close();

  async function submit(content: string): Promise<string> {
    const response = await house.fetch('/api/v1/chat/completions', {
      method: 'POST',
      body: JSON.stringify({ messages: [{ role: 'user', content }], stream: true }),
    });
    await response.body?.cancel();
    return response.headers.get('drawbridge-response-id') ?? '';
  }

  async function statusOf(id: string): Promise<string> {
    return (await house.client.getResponse(id)).status;
  }
});

/** Long before the alarm would wake it. On a quiet machine the longest wait is below two seconds. */
const WOKEN_MS = RUN_LIMITS.watchdogMs / 2;

import { expect, it } from 'vitest';
import { until } from './house.ts';
import { oneHouse } from './one-house.ts';
import { FlowChat, transportTo } from './ui-chat.ts';

const at = oneHouse({ args: ['--no-bridge'] });

it('a stop over HTTP ends the run after the grace for pages that reload', async () => {
  at.answerWith(() => ({ text: 'and on '.repeat(2_000), delayMs: 50 }));
  const chat = new FlowChat(transportTo(at.house, 'http'));
  const aborted = at.model.aborted();
  const sending = chat.sendMessage({ text: 'Say a lot' });
  await until(() => chat.text.includes('and on and on '));
  await chat.stop();
  const stoppedMs = performance.now();
  await until(() => at.model.aborted() > aborted);
  await sending;
  expect(performance.now() - stoppedMs).toBeGreaterThan(5_000);
  expect(performance.now() - stoppedMs).toBeLessThan(15_000);
});

/** The web page of Drawbridge, on a house as `npm start` runs it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../client/index.ts';
import { startFaultHouse } from '../faults/house.ts';
import { messageOf } from './asked.ts';
import type { Side } from './side.ts';

const LOOK_EVERY_MS = 20;

export async function startDrawbridge(upstreamUrl: string): Promise<Side> {
  const house = await startFaultHouse(upstreamUrl, 'scripted');
  const client = createClient(house);
  return {
    name: 'ours',
    answers: '.response .text',
    composer: '.composer textarea',
    thread: '.messages .column',
    stillUrl: `${house.url}/icon.svg`,
    async enter(page) {
      const { secret } = await client.createInvitation();
      await page.goto(`${house.url}/#join=${secret}`);
      await page.waitForSelector('.frame');
    },
    async converse(messages) {
      let conversationId: string | undefined;
      for (const asked of messages) {
        const content = messageOf(asked);
        const input = { messages: [{ role: 'user' as const, content }] };
        const where = conversationId === undefined ? {} : { conversationId };
        for await (const { event } of client.streamChat({ ...input, ...where })) {
          if (event.type === 'response_start') conversationId = event.response.conversationId;
        }
      }
      return `${house.url}/#/c/${conversationId}`;
    },
    async loadAll(page) {
      const [earlier, exchanges] = ['.messages .column > button', '.exchange'].map((selector) =>
        page.locator(selector),
      );
      while ((await earlier?.count()) === 1) {
        const before = await exchanges?.count();
        await earlier?.click();
        while ((await exchanges?.count()) === before) await sleep(LOOK_EVERY_MS);
      }
    },
    [Symbol.asyncDispose]: () => house[Symbol.asyncDispose](),
  };
}

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import { type ScriptedAnswer, startScriptedModel } from '../far-ends/scripted-model.ts';
import { type House, type HouseOptions, startHouse, until, workerdOf } from './house.ts';

/** Half of the time after which a run's own alarm would look after it. */
const UNTIL_ALARM = { timeout: 30_000 };
const LONG = Array.from({ length: 300 }, () => 'word').join(' ');

it(
  'goes on after a kill in the middle of a text, for a client that only polls',
  UNTIL_ALARM,
  async () => {
    await using at = await startConversation(() => ({ text: LONG, delayMs: 10 }));
    await until(async () => textOf(await at.poll()).length > 100);
    await killWorkerd(at.house);
    await at.pollToEnd();
    expect(textOf(await at.poll())).toBe(LONG);
    expect(at.requests()).toBe(2);
  },
);

it(
  'goes on after a kill before the first word, for a client that only polls',
  UNTIL_ALARM,
  async () => {
    await using at = await startConversation((number) =>
      number === 0 ? { frames: [], hangs: true } : { text: 'Hello.' },
    );
    await until(() => at.requests() === 1);
    await killWorkerd(at.house);
    await at.pollToEnd();
    expect(textOf(await at.poll())).toBe('Hello.');
  },
);

it(
  'goes on after a kill while a command runs, for a client that only polls',
  UNTIL_ALARM,
  async () => {
    await using at = await startConversation(
      (number) =>
        number === 0
          ? { calls: [{ name: 'run_terminal_cmd', arguments: { command: 'sh task.sh' } }] }
          : { text: 'It ran.' },
      {
        prepare: (workspace) =>
          writeFileSync(join(workspace, 'task.sh'), 'echo ran >> runs.txt; sleep 1\n'),
      },
    );
    const runs = join(at.house.workspace, 'runs.txt');
    await until(() => existsSync(runs));
    await killWorkerd(at.house);
    await at.pollToEnd();
    expect(textOf(await at.poll())).toBe('It ran.');
    expect(readFileSync(runs, 'utf8')).toBe('ran\n');
  },
);

it('goes on after a kill when nobody asks', UNTIL_ALARM, async () => {
  await using at = await startConversation((number) =>
    number === 0 ? { text: LONG, delayMs: 10 } : { text: 'Whole.' },
  );
  await until(() => at.requests() === 1);
  await killWorkerd(at.house);
  await until(() => at.requests() === 2);
  await at.pollToEnd();
  expect(textOf(await at.poll())).toBe('Whole.');
});

it(
  'goes on with a message that waits behind one that is cut off, when nobody asks',
  UNTIL_ALARM,
  async () => {
    await using at = await startConversation((number) =>
      number === 0 ? { text: LONG, delayMs: 10 } : { text: 'Whole.' },
    );
    await until(() => at.requests() === 1);
    const { conversationId } = await at.poll();
    const second = await at.house.fetch('/api/v1/chat/completions', {
      method: 'POST',
      body: JSON.stringify({ ...ASKED, conversationId }),
    });
    await second.body?.cancel();
    await killWorkerd(at.house);
    await until(() => at.requests() === 3);
  },
);

it(
  'goes on at the next start after everything was killed, when nobody asks',
  UNTIL_ALARM,
  async () => {
    await using at = await startConversation((number) =>
      number === 0 ? { text: LONG, delayMs: 10 } : { text: 'Whole.' },
    );
    await until(() => at.requests() === 1);
    at.house.up.kill('SIGKILL');
    await using _ = await startHouse({ modelUrl: at.modelUrl, folder: at.house.folder });
    await until(() => at.requests() === 2);
  },
);

const ASKED = { messages: [{ role: 'user', content: 'Go on' }], stream: true };

/** A response at work whose client has left. */
async function startConversation(
  script: (number: number) => ScriptedAnswer,
  options: HouseOptions = {},
) {
  const model = await startScriptedModel((_, number) => script(number));
  const house = await startHouse({ ...options, modelUrl: model.baseUrl });
  const started = await house.fetch('/api/v1/chat/completions', {
    method: 'POST',
    body: JSON.stringify(ASKED),
  });
  const responseId = started.headers.get('drawbridge-response-id') ?? '';
  await started.body?.cancel();
  const poll = async () => await house.client.getResponse(responseId);
  return {
    house,
    modelUrl: model.baseUrl,
    poll,
    requests: () => model.requests.length,
    pollToEnd: async () =>
      until(async () => (await poll().catch(() => null))?.status === 'completed'),
    [Symbol.asyncDispose]: async () => {
      await house[Symbol.asyncDispose]();
      await model.close();
    },
  };
}

function textOf({ documents }: ChatResponse): string {
  return documents.map(({ type, content }) => (type === 'text' ? content : '')).join('');
}

async function killWorkerd(house: House): Promise<void> {
  const pid = workerdOf(house);
  process.kill(pid, 'SIGKILL');
  await until(() => !existsSync(`/proc/${pid}`));
}

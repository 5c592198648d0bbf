import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import type { ScriptedAnswer } from '../far-ends/scripted-model.ts';
import { startHouse, until, workerdOf } from './house.ts';
import { type OneHouse, oneHouse } from './one-house.ts';

/** Half of the time after which a run's own alarm would look after it. */
const UNTIL_ALARM = { timeout: 30_000 };
const LONG = Array.from({ length: 300 }, () => 'word').join(' ');

// A house takes four kills in ten seconds; the fifth is a crash loop.
describe('a run goes on for a client that only polls', () => {
  const at = oneHouse({
    prepare: (workspace) =>
      writeFileSync(join(workspace, 'task.sh'), 'echo ran >> runs.txt; sleep 1\n'),
  });

  it('after a kill in the middle of a text', UNTIL_ALARM, async () => {
    const run = await startConversation(at, () => ({ text: LONG, delayMs: 10 }));
    await until(async () => textOf(await run.poll()).length > 100);
    await killWorkerd(at);
    await run.pollToEnd();
    expect(textOf(await run.poll())).toBe(LONG);
    expect(at.requests().length).toBe(2);
  });

  it('after a kill before the first word', UNTIL_ALARM, async () => {
    const run = await startConversation(at, (number) =>
      number === 0 ? { frames: [], hangs: true } : { text: 'Hello.' },
    );
    await until(() => at.requests().length === 1);
    await killWorkerd(at);
    await run.pollToEnd();
    expect(textOf(await run.poll())).toBe('Hello.');
  });

  it('after a kill while a command runs', UNTIL_ALARM, async () => {
    const run = await startConversation(at, (number) =>
      number === 0
        ? { calls: [{ name: 'run_terminal_cmd', arguments: { command: 'sh task.sh' } }] }
        : { text: 'It ran.' },
    );
    const runs = join(at.house.workspace, 'runs.txt');
    await until(() => existsSync(runs));
    await killWorkerd(at);
    await run.pollToEnd();
    expect(textOf(await run.poll())).toBe('It ran.');
    expect(readFileSync(runs, 'utf8')).toBe('ran\n');
  });
});

describe('a run goes on without a reader', () => {
  const at = oneHouse();

  it('after a kill', UNTIL_ALARM, async () => {
    const run = await startConversation(at, (number) =>
      number === 0 ? { text: LONG, delayMs: 10 } : { text: 'Whole.' },
    );
    await until(() => at.requests().length === 1);
    await killWorkerd(at);
    await until(() => at.requests().length === 2);
    await run.pollToEnd();
    expect(textOf(await run.poll())).toBe('Whole.');
  });

  it('with a message that waits behind one that is cut off', UNTIL_ALARM, async () => {
    const run = await startConversation(at, (number) =>
      number === 0 ? { text: LONG, delayMs: 10 } : { text: 'Whole.' },
    );
    await until(() => at.requests().length === 1);
    const { conversationId } = await run.poll();
    const second = await at.house.fetch('/api/v1/chat/completions', {
      method: 'POST',
      body: JSON.stringify({ ...ASKED, conversationId }),
    });
    await second.body?.cancel();
    await killWorkerd(at);
    await until(() => at.requests().length === 3);
  });

  it('at the next start after everything was killed', UNTIL_ALARM, async () => {
    await startConversation(at, (number) =>
      number === 0 ? { text: LONG, delayMs: 10 } : { text: 'Whole.' },
    );
    await until(() => at.requests().length === 1);
    at.house.up.kill('SIGKILL');
    await using _ = await startHouse({ modelUrl: at.model.baseUrl, folder: at.house.folder });
    await until(() => at.requests().length === 2);
  });
});

const ASKED = { messages: [{ role: 'user', content: 'Go on' }], stream: true };

/** A response in progress whose client has left. */
async function startConversation(at: OneHouse, script: (number: number) => ScriptedAnswer) {
  const { house } = at;
  at.answerWith((_, number) => script(number));
  const started = await house.fetch('/api/v1/chat/completions', {
    method: 'POST',
    body: JSON.stringify(ASKED),
  });
  const responseId = started.headers.get('drawbridge-response-id') ?? '';
  await started.body?.cancel();
  const poll = async () => await house.client.getResponse(responseId);
  return {
    poll,
    pollToEnd: async () =>
      until(async () => (await poll().catch(() => null))?.status === 'completed'),
  };
}

function textOf({ documents }: ChatResponse): string {
  return documents.map(({ type, content }) => (type === 'text' ? content : '')).join('');
}

async function killWorkerd(at: OneHouse): Promise<void> {
  const pid = workerdOf(at.house);
  process.kill(pid, 'SIGKILL');
  await until(() => !existsSync(`/proc/${pid}`));
}

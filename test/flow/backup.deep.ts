import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import type { ConversationView } from '../../shared/wire/documents.ts';
import type { ReadEvent } from '../../shared/wire/events.ts';
import { startScriptedModel } from '../far-ends/scripted-model.ts';
import { DRAWBRIDGE, type House, startHouse, until } from './house.ts';

const LONG = Array.from({ length: 200 }, (_, line) => `Line ${line} of a long answer.`).join('\n');
/** Waits until the test lets it go on, and notes each time that it runs. */
const TASK = 'echo ran >> runs.txt; until [ -e go-on ]; do sleep 0.1; done\n';

interface Seen {
  readonly position: number;
  readonly event: ReadEvent;
}

it('a backup under load is one moment of all conversations, and a restored one goes on beyond every later moment', async () => {
  let isBackedUp = false;
  const slow = {
    text: LONG,
    get delayMs() {
      return isBackedUp ? 0 : 50;
    },
  };
  const model = await startScriptedModel(({ messages }) => {
    if (messages.at(-1)?.role === 'tool') return { text: 'The task is over.' };
    if (JSON.stringify(messages).includes('run the task'))
      return { calls: [{ name: 'run_terminal_cmd', arguments: { command: 'sh task.sh' } }] };
    return slow;
  });
  onTestFinished(() => model.close());
  await using house = await startHouse({
    modelUrl: model.baseUrl,
    prepare: (workspace) => writeFileSync(join(workspace, 'task.sh'), TASK),
  });
  const runs = () => readFileSync(join(house.workspace, 'runs.txt'), 'utf8');
  const seen = new Map<string, Seen[]>();
  const streams = ['run the task', 'one', 'two', 'three', 'four'].map((content) =>
    converse(house, content, seen),
  );
  await until(() => seen.size === 5 && existsSync(join(house.workspace, 'runs.txt')));
  await until(() => [...seen.values()].every((events) => events.length > 6));

  const file = join(house.folder, 'backup.tar.gz');
  const place = ['--workspace', house.workspace, '--state', house.state];
  const printed = await drawbridge('backup', file, ...place);
  expect(printed).toMatch(/\d+ files, .* MiB; the server paused for \d+ ms\. It contains keys/);
  isBackedUp = true;
  writeFileSync(join(house.workspace, 'go-on'), '');
  await Promise.all(streams);
  expect(runs()).toBe('ran\n');
  const later = await viewsOf(house, seen.keys());
  for (const { responses } of later.values()) expect(responses[0]?.status).toBe('completed');

  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-restored-'));
  cpSync(house.workspace, join(folder, 'workspace'), { recursive: true });
  await drawbridge('restore', file, '--state', join(folder, 'state'));
  await using restored = await startHouse({ modelUrl: model.baseUrl, folder, args: ['--move'] });
  for (const [id, events] of seen) {
    const { messages, responses } = await restored.client.getConversation(id);
    expect(messages).toEqual(later.get(id)?.messages);
    const responseId = responses[0]?.id ?? '';
    const [first] = await follow(restored, responseId, events.at(-1)?.position);
    expect(first?.event.type).toBe('snapshot'); // This reader has seen the future that was taken back.
    const again = await follow(restored, responseId);
    expect(again.at(-1)?.event).toMatchObject({ type: 'done', status: 'completed' });
    const [meanings, others] = [meaningsOf(events), meaningsOf(again)];
    const common = [...others.keys()].filter((position) => meanings.has(position));
    expect(common.length).toBeGreaterThan(0);
    for (const position of common) {
      expect([position, others.get(position)]).toEqual([position, meanings.get(position)]);
    }
    const lastKept = Math.max(...common);
    const fresh = [...others.keys()].filter((position) => position > lastKept);
    expect(Math.min(...fresh)).toBeGreaterThan(2 ** 40);
  }
  // The command is not run again: the model gets an unknown outcome.
  expect(readFileSync(join(restored.workspace, 'runs.txt'), 'utf8')).toBe('ran\n');
  const results = model.requests.flatMap(({ messages }) =>
    messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content)),
  );
  expect(results.at(-1)).toMatch(/may or may not have had its effect/);
});

/** What each position stands for: a character, or an event. */
function meaningsOf(events: readonly Seen[]): Map<number, string> {
  const meanings = new Map<number, string>();
  for (const { position, event } of events) {
    if (['snapshot', 'heartbeat'].includes(event.type)) continue;
    if (!('delta' in event)) meanings.set(position, event.type);
    else
      for (let at = 0; at < event.delta.length; at++)
        meanings.set(position - at, `${event.documentId} ${event.delta.at(-1 - at)}`);
  }
  return meanings;
}

/** Sends a message of a new conversation, and keeps what its reader sees. */
async function converse(house: House, content: string, seen: Map<string, Seen[]>): Promise<void> {
  const events: Seen[] = [];
  for await (const { position, event } of house.client.streamChat({
    messages: [{ role: 'user', content }],
  })) {
    if (event.type === 'response_start') seen.set(event.response.conversationId, events);
    if (position !== undefined) events.push({ position, event });
  }
}

async function follow(house: House, responseId: string, cursor?: number): Promise<Seen[]> {
  const events: Seen[] = [];
  const options = cursor === undefined ? {} : { cursor };
  for await (const { position = 0, event } of house.client.followResponse(responseId, options)) {
    events.push({ position, event });
  }
  return events;
}

async function viewsOf(
  house: House,
  ids: Iterable<string>,
): Promise<Map<string, ConversationView>> {
  const views = await Promise.all([...ids].map((id) => house.client.getConversation(id)));
  return new Map(views.map((view) => [view.id, view]));
}

async function drawbridge(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [DRAWBRIDGE, ...args]);
  return stdout;
}

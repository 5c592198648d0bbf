import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import type { ChatResponse, ConversationView } from '../../shared/wire/documents.ts';
import { startScriptedModel } from '../far-ends/scripted-model.ts';
import { asOfNow } from '../upgrades/as-of-now.ts';
import { MILESTONES } from '../upgrades/milestones.ts';
import { LONG, sceneOf, TEXT } from '../upgrades/scenes.ts';
import { deviceOf } from './allowing.ts';
import { type House, startHouse } from './house.ts';

const STATES = join(import.meta.dirname, '..', 'upgrades', 'states');

type Answers = Readonly<Record<string, ConversationView>>;

/** Starts this version on the state that each of these older ones was killed on, while it worked. */
it.each(MILESTONES)(
  'goes on with the state of $name ($news), which was killed while it ran',
  async ({ name }) => {
    const model = await startScriptedModel((request) => sceneOf(request, false));
    onTestFinished(() => model.close());
    const { folder, workspace, answers } = unpack(name);
    onTestFinished(() => rmSync(dirname(workspace), { recursive: true, force: true }));
    await using house = await startHouse({ modelUrl: model.baseUrl, folder, workspace });
    const { state } = house;
    expect(readdirSync(join(state, 'backups'))).toEqual([
      expect.stringMatching(/-format-0\.tar\.gz$/),
    ]);

    for (const [kind, before] of Object.entries(answers)) {
      const { messages, responses, archived } = await house.client.getConversation(before.id);
      const ended = before.responses.filter(({ status }) => status === 'completed');
      expect([kind, responses.slice(0, ended.length).map(essence)]).toEqual([
        kind,
        ended.map(essence),
      ]);
      expect(messages.map(({ content }) => content)).toEqual(
        before.messages.map(({ content }) => content),
      );
      expect(archived).toBe(before.archived ?? false);
    }

    expect(await untilEnded(house, answers['work'])).toMatchObject({
      status: 'completed',
      text: LONG,
    });
    expect(await untilEnded(house, answers['approval'])).toMatchObject({ status: 'completed' });
    expect(readFileSync(join(house.workspace, 'allowed.txt'), 'utf8')).toBe('allowed\n');

    for (const kind of ['text', 'work', 'approval'].filter((each) => answers[each])) {
      const conversationId = answers[kind]?.id ?? '';
      const messages = [{ role: 'user' as const, content: 'kind text' }];
      const { status, documents } = await house.client.chat({ conversationId, messages });
      expect([kind, status, documents.map(({ content }) => content)[0]]).toEqual([
        kind,
        'completed',
        TEXT.slice(0, TEXT.indexOf('\n\n```')),
      ]);
    }
  },
);

/** What every version says of a response. */
function essence({ id, status, documents }: ChatResponse) {
  return { id, status, documents: documents.map(({ type, content }) => ({ type, content })) };
}

function unpack(name: string): { folder: string; workspace: string; answers: Answers } {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-upgrade-'));
  execFileSync('tar', ['-xzf', join(STATES, `${name}.tar.gz`), '-C', folder]);
  const workspace = workspaceIn(join(folder, 'state'));
  mkdirSync(workspace, { recursive: true });
  const answers: Answers = JSON.parse(readFileSync(join(folder, 'answers.json'), 'utf8'));
  const made = Object.values(answers).flatMap(({ responses }) =>
    responses.map((each) => each.created),
  );
  asOfNow(join(folder, 'state'), new Date(made.sort().at(-1) ?? 0));
  return { folder, workspace, answers };
}

/** Where the bridge worked. Conversations do not follow it to another folder. */
function workspaceIn(state: string): string {
  const args = [
    '-rahoE',
    '--max-count=1',
    '/tmp/drawbridge-milestone-[[:alnum:]]+/state-workspace',
  ];
  const found = execFileSync('grep', [...args, join(state, 'storage')], { encoding: 'utf8' });
  return found.split('\n', 1)[0] as string;
}

/** Waits for the end of the conversation's response, and allows every call that waits for it. */
async function untilEnded(
  house: House,
  conversation: ConversationView | undefined,
): Promise<{ status: string; text: string }> {
  const { id = '' } = conversation?.responses[0] ?? {};
  for (;;) {
    const response = await house.client.getResponse(id);
    if (!['queued', 'streaming', 'waiting'].includes(response.status)) {
      const texts = response.documents.map(({ content }) => content);
      return { status: response.status, text: String(texts.at(-1)) };
    }
    if (response.status === 'waiting') await allow(house, conversation);
    await sleep(100);
  }
}

/** The answer may come too late, because a bridge of this version asks again in its own form. */
async function allow(house: House, conversation: ConversationView | undefined): Promise<void> {
  const { id: conversationId = '' } = conversation ?? {};
  const { items } = await house.client.listApprovals();
  const open = items.find((each) => each.conversationId === conversationId);
  if (!open) return;
  const question = { ...open, conversationId, bridgeId: house.ready.bridgeId ?? '' };
  await house.client.allowCall(question, deviceOf(house)).catch(() => {});
}

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { Random } from '../../bench/fuzz/random.ts';
import type { ChatInput } from '../../client/index.ts';
import type { ScriptedCall, ScriptedRequest } from '../far-ends/reply-script.ts';
import { type ScriptedAnswer, startScriptedModel } from '../far-ends/scripted-model.ts';
import { endProcess, type House, startHouse, workerdOf } from './house.ts';

/** Conversations of one run: together they have every kind of document. */
const CONVERSATIONS = 10;
const SEED = Number(process.env['PRIVACY_SEED'] ?? 1);
const VARIABLES = { PRIVATE_MODELS: '*' };

/** Every word says its conversation and its place. `private/` is ignored: the bridge's layout has names of files. */
const WORD = /zq\d+[a-z]+/g;

it('no file of the state has a word of a private conversation once its hour is over', async () => {
  const random = new Random(SEED);
  const model = await startScriptedModel((request) => answerTo(request, random));
  onTestFinished(() => model.close());
  const first = await startHouse({
    modelUrl: model.baseUrl,
    variables: VARIABLES,
    prepare: (workspace) => writeFileSync(join(workspace, '.gitignore'), 'private/\n'),
  });
  const { folder, state } = first;
  const ids: string[] = [];
  for (let index = 0; index < CONVERSATIONS; index++) ids.push(...(await converse(first, index)));
  const open = await first.client.chat({ messages: [{ role: 'user', content: 'openzq word' }] });
  await endProcess(first.up);

  // A check that can fail: all of it is there before, and in no database that conversations share.
  const before = wordsIn(state);
  expect(kindsIn(before)).toEqual(ALL_KINDS);
  const shared = before.filter(({ file }) => /Account|Tunnel|logs|journal/.test(file));
  expect(shared).toEqual([]);

  letHoursPass(join(state, 'storage', 'drawbridge-Conversation'));
  const second = await startHouse({ modelUrl: model.baseUrl, variables: VARIABLES, folder });
  await using _ = second;
  // A kill in the middle of the deletions forgets none of them.
  await new Promise((resolve) => setTimeout(resolve, random.below(200)));
  process.kill(workerdOf(second), 'SIGKILL');
  for (const id of ids) {
    await expect.poll(() => textOf(second, id), LONG).toMatch(/"deleted":/);
  }
  const { privacy } = await second.client.getConversation(ids[0] ?? '');
  expect(privacy?.deleted).toBeDefined();
  const kept = await second.client.getConversation(open.conversationId);
  expect(kept.messages.map(({ content }) => content)).toEqual(['openzq word']);
  await endProcess(second.up);
  // Contents of the person's own files, which an undo needs: docs/security.md names them.
  const left = wordsIn(state).filter(({ file }) => !file.startsWith('checkpoints/'));
  expect(left).toEqual([]);
});

const ALL_KINDS = [
  ...['code', 'command', 'edit', 'message', 'output', 'path', 'plan', 'question', 'subagent'],
  ...['subtask', 'text', 'title', 'todo'],
];

/** One conversation, with forks. Returns the ids of all that became of it. */
async function converse(house: House, index: number): Promise<string[]> {
  const { client } = house;
  const messages = [{ role: 'user' as const, content: `zq${index}message` }];
  const { conversationId, responseId } = await answered(house, { messages, deleteAfterHours: 1 });
  await client.updateConversation(conversationId, { title: `zq${index}title` });
  const { conversationId: fork } = await client.forkConversation(conversationId, responseId);
  await answered(house, { messages, conversationId: fork });
  const edited = await answered(house, { messages, editOf: responseId });
  const found = await client.listConversations({ search: `zq${index}message` });
  expect(found.items).toEqual([]);
  return [conversationId, fork, edited.conversationId];
}

/** Also where the answer waits for a person, whom no one asks: then it goes on by itself. */
async function answered({ client }: House, request: ChatInput) {
  const questions = { allowed: true, afterSeconds: 1, otherwise: 'default' } as const;
  const sent = await client.sendMessage({ ...request, questions });
  const read = () => client.getResponse(sent.responseId);
  await expect.poll(async () => (await read()).status, LONG).toBe('completed');
  return sent;
}

/** The next answer of a conversation: some calls of random kinds, then text. */
function answerTo({ messages }: ScriptedRequest, random: Random): ScriptedAnswer {
  const said = JSON.stringify(messages.findLast(({ role }) => role === 'user'));
  const index = /zq(\d+)/.exec(said)?.[1];
  if (index === undefined) return { text: 'Nothing.' };
  const word = (kind: string) => `zq${index}${kind}`;
  if (said.includes('subtask')) return { text: word('subagent') };
  const turn = messages.length - messages.findLastIndex(({ role }) => role === 'user');
  if (turn > 1) return { text: `${word('text')}\n\n\`\`\`ts\n${word('code')}\n\`\`\`\n` };
  const kinds = callsOf(word);
  // All of them in the first conversations, and then a random choice.
  const calls = Number(index) < 2 ? kinds : kinds.filter(() => random.chance(0.5));
  return calls.length === 0 ? { text: word('text') } : { calls };
}

function callsOf(word: (kind: string) => string): ScriptedCall[] {
  const todo = { id: '1', content: word('todo'), status: 'pending' };
  const option = (id: string) => ({ id, label: id });
  return [
    {
      name: 'write',
      arguments: { file_path: `private/${word('path')}.txt`, content: `${word('edit')}\n` },
    },
    { name: 'run_terminal_cmd', arguments: { command: `echo ${word('command')}` } },
    { name: 'run_terminal_cmd', arguments: { command: `printf ${word('output')}` } },
    { name: 'todo_write', arguments: { merge: false, todos: [todo] } },
    {
      name: 'create_plan',
      arguments: { name: word('plan'), overview: 'o', plan: word('plan'), todos: [] },
    },
    {
      name: 'task',
      arguments: { description: 'Look', prompt: word('subtask'), subagent_type: 'explore' },
    },
    {
      name: 'ask_question',
      arguments: {
        questions: [{ id: 'q', prompt: word('question'), options: [option('a'), option('b')] }],
      },
    },
  ];
}

/** As if the hours of all private conversations were over. */
function letHoursPass(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!/^[0-9a-f]+\.sqlite$/.test(name)) continue;
    const database = new DatabaseSync(join(folder, name));
    database.exec('update conversation set delete_after = 0 where delete_after is not null');
    database.close();
  }
}

interface Found {
  readonly file: string;
  readonly word: string;
}

/** Every word in the raw bytes of every file below the folder. */
function wordsIn(folder: string): Found[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return files.flatMap((entry) => {
    if (!entry.isFile()) return [];
    const path = join(entry.parentPath, entry.name);
    const words = new Set(readFileSync(path).toString('latin1').match(WORD));
    return [...words].map((word) => ({ file: relative(folder, path), word }));
  });
}

function kindsIn(found: readonly Found[]): string[] {
  const kinds = found.map(({ word }) => word.replace(/^zq\d+/, ''));
  return [...new Set(kinds)].filter((kind) => ALL_KINDS.includes(kind)).sort();
}

/** The conversation as the API has it; the error's words while the runtime restarts. */
async function textOf({ fetch }: House, id: string): Promise<string> {
  return await fetch(`/api/v1/conversations/${id}`).then((answer) => answer.text(), String);
}

const LONG = { timeout: 60_000, interval: 200 };

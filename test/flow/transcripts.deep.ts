import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ScriptedReply, ScriptedRequest } from '../far-ends/reply-script.ts';
import { startScriptedModel } from '../far-ends/scripted-model.ts';
import { startHouse } from './house.ts';
import { Transcript } from './transcript.ts';

const PAGES = join(import.meta.dirname, '..', '..', 'docs', 'transcripts');

it('the transcript of a plan is what the API says', async () => {
  const model = await startScriptedModel(planning);
  await using house = await startHouse({ modelUrl: model.baseUrl });
  const page = new Transcript(house, 'A plan: made, changed by a person, executed');
  page.say('The laptop asks for a plan. The answer is cut here to its documents.');
  const made = await page.send(
    'laptop',
    {
      method: 'POST',
      path: 'chat/plan',
      body: { messages: [{ role: 'user', content: 'Add a license and a readme.' }] },
    },
    documentsOf,
  );
  const conversation = `conversations/${String(made['conversationId'])}`;
  page.say(
    'The phone changes the plan: one more todo, and another order. `version` is the one that the phone',
    'has shown.',
  );
  const plan = `${conversation}/plans/doc_001`;
  const edit = {
    version: 1,
    title: 'License and readme',
    overview: 'Adds three files.',
    content: 'The license first, because the readme names it.',
    todos: [
      { id: 'readme', content: 'Write README.md', dependencies: ['license'] },
      { id: 'license', content: 'Write LICENSE' },
      { id: 'ignore', content: 'Write .gitignore', dependencies: ['readme'] },
    ],
  };
  await page.send('phone', { method: 'PUT', path: plan, body: edit });
  page.say('The laptop still has version 1, and cannot overwrite the change.');
  await page.send('laptop', { method: 'PUT', path: plan, body: { ...edit, title: 'Mine' } });
  page.say(
    'The phone has it executed. The first `todo_update` is written by Drawbridge: the todos in the',
    'order of their dependencies. The pieces of texts and calls are left out here.',
  );
  const execution = { version: 2, stream: true };
  const run = await page.watch('phone', {
    method: 'POST',
    path: `${plan}/execute`,
    body: execution,
  });
  await run.until('done');
  page.say('Every device that reads the conversation now finds the plan with its todos done.');
  await page.send('laptop', { method: 'GET', path: conversation }, planIn);
  await expect(page.toString()).toMatchFileSnapshot(join(PAGES, 'plan.md'));
  await model.close();
});

it('the transcript of a question is what the API says', async () => {
  const model = await startScriptedModel(asking);
  await using house = await startHouse({ modelUrl: model.baseUrl });
  const page = new Transcript(house, 'A question, answered from a second device');
  page.say(
    'The laptop sends a message and reads the answer as it comes. The model asks something.',
  );
  const message = { messages: [{ role: 'user', content: 'Set up the database.' }], stream: true };
  const laptop = await page.watch('laptop', {
    method: 'POST',
    path: 'chat/completions',
    body: message,
  });
  const { conversationId } = (await laptop.until('response_start')) as { conversationId: string };
  const { documentId } = (await laptop.until('clarification_request')) as { documentId: string };
  page.say('The laptop is closed. The phone opens the conversation, and finds the question.');
  const conversation = `conversations/${conversationId}`;
  await page.send('phone', { method: 'GET', path: conversation }, newestResponse);
  page.say('The phone answers.');
  const answer = {
    method: 'POST',
    path: `${conversation}/clarifications/${documentId}`,
    body: { answers: [{ questionId: 'kind', optionIds: ['sqlite'] }] },
  };
  await page.send('phone', answer);
  page.say('The same answer again changes nothing: the first one counts.');
  await page.send('tablet', answer);
  page.say('The laptop is opened again. Its stream has gone on.');
  await laptop.until('done');
  await expect(page.toString()).toMatchFileSnapshot(join(PAGES, 'question.md'));
  await model.close();
});

it('the transcript of a background run is what the API says', async () => {
  const model = await startScriptedModel(fixing);
  await using house = await startHouse({ modelUrl: model.baseUrl, prepare: makeRepository });
  const page = new Transcript(house, 'A background run in a worktree');
  page.say('The phone gives a task, and may go away: the agent works without it.');
  const { id } = await page.send('phone', {
    method: 'POST',
    path: 'agents',
    body: { prompt: 'The greeting is misspelt. Fix it.', commit: true },
  });
  page.say(
    'The laptop looks on. The first call and the last one are Drawbridge’s own: they make the branch',
    'with a folder of its own, and end with the difference and the commit.',
  );
  const conversation = `conversations/${String(id)}`;
  const laptop = await page.watch('laptop', { method: 'GET', path: `${conversation}/events` });
  await laptop.until('done');
  page.say('The phone asks for the outcome.');
  const agent = await page.send('phone', { method: 'GET', path: `agents/${String(id)}` });
  const { branch } = agent['worktree'] as { branch: string };
  page.say('On the machine, the branch has the work, and the folder is as it was.');
  page.run(['git', 'show', '--format=%an: %s', branch]);
  page.run(['git', 'status', '--short', '--branch']);
  await expect(page.toString()).toMatchFileSnapshot(join(PAGES, 'background-run.md'));
  await model.close();
});

function makeRepository(workspace: string): void {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: workspace });
  git('init', '--quiet', '--initial-branch=main');
  writeFileSync(join(workspace, 'greeting.txt'), 'Helo\n');
  git('add', '.');
  const person = ['-c', 'user.name=You', '-c', 'user.email=you@example.com'];
  git(...person, 'commit', '--quiet', '-m', 'Greet');
}

function fixing({ messages }: ScriptedRequest): ScriptedReply {
  if (messages.at(-1)?.role === 'tool') return { text: 'The greeting says “Hello” now.' };
  const edit = { path: 'greeting.txt', old_string: 'Helo', new_string: 'Hello' };
  return { calls: [{ name: 'str_replace', arguments: edit }] };
}

function planning({ messages }: ScriptedRequest): ScriptedReply {
  const said = messages.filter(({ role }) => role === 'user').map(({ content }) => String(content));
  if (!said.join('\n').includes('<executing_a_plan>')) {
    return messages.at(-1)?.role === 'tool' ? { text: 'This is the plan.' } : { calls: [LAID] };
  }
  const results = messages.filter(({ role }) => role === 'tool').length;
  const next = FILES[(results - 1) / 2];
  if (!next) return { text: 'All three files are written.' };
  const [id, path, contents] = next;
  return {
    calls: [
      { name: 'write', arguments: { path, contents } },
      { name: 'todo_write', arguments: { todos: [{ id, status: 'completed' }] } },
    ],
  };
}

const FILES = [
  ['license', 'LICENSE', 'MIT\n'],
  ['readme', 'README.md', '# Project\n\nMIT\n'],
  ['ignore', '.gitignore', 'node_modules\n'],
] as const;

const LAID = {
  name: 'create_plan',
  arguments: {
    name: 'Readme and license',
    overview: 'Adds two files.',
    plan: 'Write `README.md`, then `LICENSE`.',
    todos: [
      { id: 'readme', content: 'Write README.md' },
      { id: 'license', content: 'Write LICENSE' },
    ],
  },
};

function asking({ messages }: ScriptedRequest): ScriptedReply {
  if (messages.at(-1)?.role === 'tool') return { text: 'Then SQLite it is: no server to run.' };
  const options = [
    { id: 'sqlite', label: 'SQLite' },
    { id: 'postgres', label: 'PostgreSQL' },
  ];
  const questions = [{ id: 'kind', prompt: 'Which database?', options }];
  return { calls: [{ name: 'ask_question', arguments: { questions } }] };
}

type Json = Readonly<Record<string, unknown>>;

function documentsOf({ conversationId, documents }: Json): Json {
  return { conversationId, documents };
}

function newestResponse({ responses }: Json): Json {
  const { status, documents } = (responses as Json[]).at(-1) ?? {};
  return { responses: [{ status, documents }] };
}

function planIn({ responses }: Json): Json {
  const documents = (responses as { documents: Json[] }[]).flatMap(({ documents: all }) => all);
  return { documents: documents.filter(({ type }) => type === 'plan') };
}

import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { describe, expect, it } from 'vitest';
import { findTool, toolsRunBy } from '../../../shared/tools/catalogue.ts';
import { modeHasTool } from '../../../shared/tools/definition.ts';
import { BUILT_IN } from '../../../shared/tools/toolbox.ts';
import { nextMove } from '../demo/intents.ts';
import { type DemoMessage, type DemoRequest, demoReply } from '../demo/wire.ts';

const ALL_TOOLS = toolsRunBy('bridge').map((tool) => tool.name);
const PLAN_TOOLS = BUILT_IN.tools
  .filter((tool) => modeHasTool('plan', tool))
  .map(({ name }) => name);

describe('a request in plain words', () => {
  const read = (path: string): MadeCall => ['read_file', { target_file: path }];
  const list = (path = '.'): MadeCall => ['list_dir', { target_directory: path }];
  const run = (command: string): MadeCall => ['run_terminal_cmd', { command }];
  const search = (pattern: string, path?: string): MadeCall => [
    'grep',
    { pattern, ...(path !== undefined && { path }) },
  ];
  const write = (path: string, contents: string): MadeCall => ['write', { path, contents }];
  const replace = (from: string, to: string, path: string): MadeCall => [
    'str_replace',
    { file_path: path, old_string: from, new_string: to, replace_all: true },
  ];

  it.each<[string, MadeCall[]]>([
    ['read src/main.ts', [read('src/main.ts')]],
    ['Please show me README.md.', [read('README.md')]],
    ['can you please read package.json for me?', [read('package.json')]],
    ['open "my file.txt"', [read('my file.txt')]],
    ['explain src/app.ts', [read('src/app.ts')]],
    ['cat Makefile', [read('Makefile')]],
    ['list', [list()]],
    ['ls src', [list('src')]],
    ['ls .', [list()]],
    ['list the files in the src folder', [list('src')]],
    ['list the files here', [list()]],
    ['list the files in this project', [list()]],
    ['list the files in "my files"', [list('my files')]],
    ['show me all the files', [list()]],
    ['find "hello world" in src', [search('hello world', 'src')]],
    ['search for TODO', [search('TODO')]],
    ['search for TODO in src', [search('TODO', 'src')]],
    ['search for f(x) in this project', [search(String.raw`f\(x\)`)]],
    ['create notes.md with hello world', [write('notes.md', 'hello world\n')]],
    ['create a.md with hello, how are you', [write('a.md', 'hello, how are you\n')]],
    ['create a.md: hello', [write('a.md', 'hello\n')]],
    [
      'create notes.md containing "milk, then run away"',
      [write('notes.md', 'milk, then run away\n')],
    ],
    ['create a file called todo.txt', [write('todo.txt', '')]],
    ['create x.py with "read = 1\n\nrun = 2"', [write('x.py', 'read = 1\n\nrun = 2\n')]],
    ['replace "foo" with "bar" in a.ts', [replace('foo', 'bar', 'a.ts')]],
    ['replace "Hello" with "Good evening" in a.ts', [replace('Hello', 'Good evening', 'a.ts')]],
    ['replace foo with "" in a.ts', [replace('foo', '', 'a.ts')]],
    ['run npm test', [run('npm test')]],
    ['run `npm test`', [run('npm test')]],
    ['run ls . | wc -l && echo "a, then read b"', [run('ls . | wc -l && echo "a, then read b"')]],
    ["what's in this project?", [list()]],
    [
      'read a.ts and then list, then run ls; read b.ts',
      [read('a.ts'), list(), run('ls; read b.ts')],
    ],
    ['Create a.txt with hi. Then read a.txt', [write('a.txt', 'hi\n'), read('a.txt')]],
  ])('%j is understood', async (query, calls) => {
    const made = await converse(query, { files: { 'a.ts': '', 'b.ts': '', 'src/main.ts': '' } });
    expect(made.turns.flat()).toEqual(calls);
  });

  it.each([
    'write me a poem',
    'create a web app',
    'run the tests',
    'add a dark mode',
    'how does the login work?',
    'delete old.txt',
    'read a.ts, then make it nice',
  ])('%j is left to a language model, and nothing of it is done', async (query) => {
    const { turns, last } = await converse(query, { files: { 'a.ts': 'x' } });
    expect(turns).toEqual([[]]);
    expect(last).toContain('I understand plain requests');
  });

  it('is understood in every form that the demo model lists itself', async () => {
    const help = await textOf({ messages: [ask('')], tools: [] });
    const examples = [...help.matchAll(/^- (.*)$/gm)].map(([, example = '']) => example);
    expect(examples).toHaveLength(7);
    for (const example of examples) {
      const { calls } = await answer({ messages: [ask(example)], tools: ALL_TOOLS });
      expect([example, calls.length]).toEqual([example, 1]);
    }
  });

  it.each([
    ...[
      'in with ',
      'a.b, ',
      '"a ',
      'create a.md: ',
      '. then find a',
      '\n',
      ' of to',
      ' in "',
      '` ',
    ],
    ...[' for me please', ' please', '.', 'the ', ' in the folder '],
  ])('is taken apart in time, however long and odd it is: %j', (piece) => {
    const odd = piece.repeat(4_000);
    for (const begin of [
      'replace a ',
      'search ',
      'list ',
      'run ',
      'read ',
      'create a.md with ',
      '',
    ]) {
      const talk = { query: (begin + odd).trim(), isFirstAnswer: true, results: [] };
      expect(nextMove(talk, new Set(ALL_TOOLS)).text.length).toBeGreaterThan(0);
    }
  });
});

describe('a conversation with the demo model', () => {
  it('lists, reads the README, and answers with references to the lines it read', async () => {
    const { turns, last } = await converse('what is in this project?', {
      files: { 'README.md': '# Demo\n```sh\nnpm i\n```', 'package.json': '{"name":"x"}' },
    });
    expect(turns).toEqual([
      [['list_dir', { target_directory: '.' }]],
      [['read_file', { target_file: 'README.md' }]],
      [],
    ]);
    expect(last).toContain('```text\nREADME.md\npackage.json\n');
    expect(last).toContain('````1:4:README.md\n# Demo\n```sh\nnpm i\n```\n````');
  });

  it('carries out one request after the other', async () => {
    const query =
      'create a.md with "foo(foo)", then replace "foo" with "bar" in a.md, then read a.md';
    const { turns, last, files } = await converse(query, { files: {} });
    expect(turns.map((calls) => calls.map(([name]) => name))).toEqual([
      ['write'],
      ['str_replace'],
      ['read_file'],
      [],
    ]);
    expect(files['a.md']).toBe('bar(bar)\n');
    expect(last).toContain('```1:2:a.md\nbar(bar)\n\n```');
  });

  it('reads a file before it replaces all of it, when the tool asks for that', async () => {
    const { turns, files } = await converse('create a.md with "new"', { files: { 'a.md': 'old' } });
    expect(turns.flat().map(([name]) => name)).toEqual(['write', 'read_file', 'write']);
    expect(files['a.md']).toBe('new\n');
  });

  it('never replaces a file by a text of its own making', async () => {
    const { last, files } = await converse('create a.md', { files: { 'a.md': 'old' } });
    expect(files['a.md']).toBe('old');
    expect(last).toBe('I could not write `a.md`: Read it first.');
  });

  it('says what a command printed', async () => {
    const { last } = await converse('run wc a', { files: {} });
    expect(last).toBe('It printed:\n\n```text\nExit code: 1\nOutput:\n2 a\n```');
  });

  it('says what failed, and does not do what was to follow', async () => {
    const query = 'run npm test, then read a.ts, then run ls';
    const { turns, last } = await converse(query, { files: { 'a.ts': '' } });
    expect(turns).toEqual([[['run_terminal_cmd', { command: 'npm test' }]], []]);
    expect(last).toBe(
      '```text\nExit code: 1\nSandbox: none.\nOutput:\nboom\nExit code: 0\n```\n\n' +
        'So I stopped there, and left `read a.ts` and `run ls`.',
    );
  });

  it('quotes the first lines of a result', async () => {
    const files = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`${index}`, '']));
    const { last } = await converse('list', { files });
    expect(last).toMatch(/^```text\n0\n1\n.*\n11\n… and 9 more\n```$/s);
  });

  it('says that a tool is not on offer, and calls none but those that are', async () => {
    const { turns, last } = await converse('read a.ts and then run `ls`, then list', {
      files: { 'a.ts': 'x' },
      tools: PLAN_TOOLS.filter((name) => name !== 'run_terminal_cmd'),
    });
    expect(turns).toEqual([[['read_file', { target_file: 'a.ts' }]], []]);
    expect(last).toBe(
      '`a.ts`:\n\n```1:1:a.ts\nx\n```\n\n' +
        'I could not run `ls`: it takes a bridge to a machine, and a mode that has the tool for it.\n\n' +
        'So I stopped there, and left `list`.',
    );
  });

  it('changes nothing in plan mode', async () => {
    const query = 'replace foo with bar in a.ts';
    const { turns, last } = await converse(query, { files: { 'a.ts': 'foo' }, tools: PLAN_TOOLS });
    expect(turns).toEqual([[]]);
    expect(last).toContain('I could not change `a.ts`: it takes a bridge to a machine, and a mode');
  });

  it('says that there are no tools without a bridge', async () => {
    const { last } = await converse('run ls', { files: {}, tools: [] });
    expect(last).toContain('it takes a bridge to a machine');
  });

  it('reports each result once', async () => {
    const { texts } = await converse('read a.ts, then run wc a, then list', {
      files: { 'a.ts': 'x' },
    });
    const mentions = (words: string) => texts.map((text) => text.includes(words));
    expect(mentions('1:1:a.ts\nx\n')).toEqual([false, true, false, false]);
    expect(mentions('It printed')).toEqual([false, false, true, false]);
    expect(mentions('```text\na.ts\n')).toEqual([false, false, false, true]);
  });

  it('introduces itself only in its first answer', async () => {
    const first = await textOf({ messages: [ask('hello')], tools: ALL_TOOLS });
    const again = [ask('hello'), { role: 'assistant', content: first }, ask('hello again')];
    expect(first).toMatch(/^I am Drawbridge's built-in demo model.*not a language model\./);
    expect(await textOf({ messages: again, tools: ALL_TOOLS })).not.toContain('demo model:');
  });

  it('names no command: it knows neither the shell of the person nor the name there', async () => {
    const text = await textOf({ messages: [ask('hello')], tools: ALL_TOOLS });
    expect(text).toContain('needs a real model');
    expect(text).not.toMatch(/`drawbridge/);
  });

  it.each([
    {
      name: 'the unescaped text of the query tag',
      content: '<user_info>read x.ts</user_info>\n<user_query>\ngrep "<b> &amp;"\n</user_query>',
      pattern: '<b> &amp;',
    },
    { name: 'the whole message without one', content: 'grep "<b>"', pattern: '<b>' },
  ])('takes as the request $name', async ({ content, pattern }) => {
    const { calls } = await answer({ messages: [{ role: 'user', content }], tools: ALL_TOOLS });
    expect(calls).toMatchObject([{ name: 'grep', arguments: JSON.stringify({ pattern }) }]);
  });

  it('takes a message in parts like one in a piece', async () => {
    const content = [
      { type: 'text', text: 'read ' },
      { type: 'text', text: 'a.ts' },
    ];
    const { calls } = await answer({ messages: [{ role: 'user', content }], tools: ALL_TOOLS });
    expect(calls.map(({ name }) => name)).toEqual(['read_file']);
  });
});

const REQUEST = { messages: [ask('read ä👋.ts, then run "echo 👋"')], tools: ALL_TOOLS };

it('the wire of the demo model is that of OpenAI: role, text, finish reason, usage, end', async () => {
  const response = demoReply({ messages: [ask('hello')], tools: [] });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const events = (await response.text()).split('\n\n').slice(0, -1);
  expect(events.every((event) => event.startsWith('data: '))).toBe(true);
  expect(events.at(-1)).toBe('data: [DONE]');
  const chunks = events.slice(0, -1).map(parseChunk);
  expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '' });
  expect(chunks.at(-2)?.choices).toEqual([{ index: 0, delta: {}, finish_reason: 'stop' }]);
  expect(chunks.at(-1)).toMatchObject({
    choices: [],
    usage: {
      prompt_tokens: expect.any(Number),
      completion_tokens: expect.any(Number),
      total_tokens: expect.any(Number),
    },
  });
});

it('the wire of the demo model brings text and arguments in pieces that fit together', async () => {
  const { pieces, calls, finishReason } = await answer(REQUEST);
  expect(pieces.length).toBeGreaterThan(5);
  expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
  expect(calls).toEqual([
    { id: 'call_demo_1', name: 'read_file', arguments: '{"target_file":"ä👋.ts"}' },
  ]);
  expect(finishReason).toBe('tool_calls');
});

it('the wire of the demo model is the same for the same request', async () => {
  expect(await demoReply(REQUEST).text()).toBe(await demoReply(REQUEST).text());
});

it('the wire of the demo model counts the ids of its calls through the whole conversation', async () => {
  const made = { id: 'x', type: 'function', function: { name: 'read_file', arguments: '{}' } };
  const messages = [
    ask('read a.ts'),
    { role: 'assistant', content: null, tool_calls: [made, { ...made, id: 'y' }] },
    ask('what is in this project'),
  ];
  const first = await answer({ messages, tools: ALL_TOOLS });
  expect(first.calls).toMatchObject([{ id: 'call_demo_3' }]);
  const listing = { role: 'tool', tool_call_id: 'call_demo_3', content: 'README.md\ngo.mod' };
  const calling = { role: 'assistant', tool_calls: first.calls.map(toolCallOf) };
  const next = await answer({ messages: [...messages, calling, listing], tools: ALL_TOOLS });
  expect(next.calls.map(({ id }) => id)).toEqual(['call_demo_4']);
});

type Files = Record<string, string>;
type MadeCall = [name: string, args: unknown];

interface Converse {
  readonly files: Files;
  readonly tools?: readonly string[];
}

interface Conversed {
  readonly turns: MadeCall[][];
  readonly texts: string[];
  readonly last: string;
  readonly files: Files;
}

/** Talks to the model until it calls no more tools, over files in memory. */
async function converse(query: string, { files, tools = ALL_TOOLS }: Converse): Promise<Conversed> {
  const messages: DemoMessage[] = [ask(query)];
  const turns: MadeCall[][] = [];
  const texts: string[] = [];
  const seen = new Set<string>();
  while (turns.at(-1)?.length !== 0) {
    const { text, calls } = await answer({ messages, tools });
    texts.push(text);
    messages.push({ role: 'assistant', content: text, tool_calls: calls.map(toolCallOf) });
    turns.push(calls.map(({ name, arguments: args }) => [name, JSON.parse(args)]));
    for (const { id, name, arguments: args } of calls) {
      expect(tools).toContain(name);
      const parsed = findTool(name)?.arguments.parse(JSON.parse(args)) as Record<string, string>;
      const content = execute(name, parsed, files, seen);
      messages.push({ role: 'tool', tool_call_id: id, content });
    }
  }
  return { turns, texts, last: texts.at(-1) ?? '', files };
}

function toolCallOf({ id, ...made }: { id: string; name: string; arguments: string }) {
  return { id, type: 'function', function: made };
}

/** The tools as the bridge has them, in the form of their answers. */
function execute(
  name: string,
  args: Record<string, string>,
  files: Files,
  seen: Set<string>,
): string {
  const path = args['target_file'] ?? args['file_path'] ?? args['path'] ?? '';
  const text = files[path];
  switch (name) {
    case 'list_dir':
      return `${Object.keys(files).join('\n')}\n(2 of 2 entries of .)`;
    case 'read_file':
      if (text === undefined) return `Error NOT_FOUND: There is no ${path}.`;
      seen.add(path);
      return text === '' ? '(The file is empty.)' : text.split('\n').map(numbered).join('\n');
    case 'grep':
      return '(No matches.)';
    case 'write':
      if (text !== undefined && !seen.has(path)) return 'Error READ_FIRST: Read it first.';
      files[path] = args['contents'] ?? '';
      return `Created ${path} (1 line).`;
    case 'str_replace':
      files[path] = text?.replaceAll(args['old_string'] ?? '', args['new_string'] ?? '') ?? '';
      return `Edited ${path}.`;
    case 'run_terminal_cmd':
      return (
        {
          'npm test': 'Exit code: 1\nSandbox: none.\nOutput:\nboom\nExit code: 0',
          'wc a': 'Exit code: 0\nSandbox: none.\nOutput:\nExit code: 1\nOutput:\n2 a\n',
        }[args['command'] ?? ''] ?? 'Exit code: 0\nSandbox: none.\nIt printed nothing.'
      );
    default:
      return `Error UNKNOWN_TOOL: ${name}`;
  }
}

function numbered(line: string, index: number): string {
  return `${index + 1}|${line}`;
}

function ask(query: string): DemoMessage {
  return { role: 'user', content: `<user_query>\n${query}\n</user_query>` };
}

async function textOf(request: DemoRequest): Promise<string> {
  return (await answer(request)).text;
}

/** Reads an answer as any client would put it together. */
async function answer(request: DemoRequest) {
  const events = (await demoReply(request).text()).split('\n\n').slice(0, -2).map(parseChunk);
  const calls: { id: string; name: string; arguments: string }[] = [];
  const pieces: string[] = [];
  let finishReason: string | null = null;
  for (const { delta, finish_reason } of events.flatMap(({ choices }) => choices)) {
    pieces.push(delta.content ?? '');
    finishReason = finish_reason ?? finishReason;
    for (const { index, id = '', function: part } of delta.tool_calls ?? []) {
      calls[index] ??= { id, name: part?.name ?? '', arguments: '' };
      calls[index].arguments += part?.arguments ?? '';
      pieces.push(part?.arguments ?? '');
    }
  }
  const text = events.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
  return { text, calls, pieces, finishReason };
}

function parseChunk(event: string): ChatCompletionChunk {
  return JSON.parse(event.slice('data: '.length));
}

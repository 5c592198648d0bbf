import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { describe, expect, it } from 'vitest';
import { BRIDGE_TOOLS, findTool } from '../../../shared/tools/catalogue.ts';
import type { DemoMessage } from '../../../worker/upstream/demo/history.ts';
import { type DemoRequest, demoReply } from '../../../worker/upstream/demo/reply.ts';
import { parseSteps, type Step } from '../../../worker/upstream/demo/steps.ts';

const ALL_TOOLS = BRIDGE_TOOLS.map((tool) => tool.name);
const READ_TOOLS = BRIDGE_TOOLS.filter((tool) => tool.effect === 'read').map((tool) => tool.name);

describe('a request in plain words', () => {
  const read = (path: string): Step => ({ type: 'read', path });
  const list = (path = '.'): Step => ({ type: 'list', path });
  const run = (command: string): Step => ({ type: 'run', command });
  const find = (pattern: string, path = '.'): Step => ({ type: 'find', pattern, path });
  const search = (pattern: string, path: string | null = null): Step => ({
    type: 'search',
    pattern,
    path,
  });
  const write = (path: string, content: string | null): Step => ({ type: 'write', path, content });
  const replace = (from: string, to: string, path: string): Step => ({
    type: 'replace',
    path,
    from,
    to,
  });
  const remove = (path: string): Step => ({ type: 'delete', path });
  const unknown = (text: string): Step => ({ type: 'unknown', text });
  const summarise: Step = { type: 'summarise' };

  it.each<[string, Step[]]>([
    ['read src/main.ts', [read('src/main.ts')]],
    ['Please show me README.md.', [read('README.md')]],
    ['can you please read package.json for me?', [read('package.json')]],
    ['open @src/a.ts', [read('src/a.ts')]],
    ['read a.ts, b.ts and c.ts', [read('a.ts'), read('b.ts'), read('c.ts')]],
    ['read the readme', [read('README.md')]],
    ['explain src/app.ts', [read('src/app.ts')]],
    ['list', [list()]],
    ['ls src', [list('src')]],
    ['list the files in the src folder', [list('src')]],
    ['show the folder src', [list('src')]],
    ['what files are there?', [list()]],
    ['find *.ts in src', [find('*.ts', 'src')]],
    ['find all TypeScript files', [find('*.ts')]],
    ['find files named config', [find('*config*')]],
    ['find "hello world" in src', [search('hello world', 'src')]],
    ['search for TODO in src', [search('TODO', 'src')]],
    ['search for f(x) in this project', [search(String.raw`f\(x\)`)]],
    ['grep for ^import in a.ts', [search('^import', 'a.ts')]],
    ['where is createClient used?', [search('createClient')]],
    ['create notes.md with hello world', [write('notes.md', 'hello world\n')]],
    ['create notes.md containing "milk; run away"', [write('notes.md', 'milk; run away\n')]],
    ['create a file called todo.txt', [write('todo.txt', null)]],
    ['write "x" to a/b.txt', [write('a/b.txt', 'x\n')]],
    ['create x.py:\n```python\nread = 1\n\nrun = 2\n```', [write('x.py', 'read = 1\n\nrun = 2\n')]],
    ['replace "foo" with "bar" in a.ts', [replace('foo', 'bar', 'a.ts')]],
    ['replace foo with "" in a.ts', [replace('foo', '', 'a.ts')]],
    ['in a.ts replace x with y', [replace('x', 'y', 'a.ts')]],
    ['delete old.txt', [remove('old.txt')]],
    ['run npm test', [run('npm test')]],
    ['run `npm test`', [run('npm test')]],
    ['run ls . | wc -l && echo "a; read b"', [run('ls . | wc -l && echo "a; read b"')]],
    ["what's in this project?", [summarise]],
    ['What is in this project and what does it do?', [summarise]],
    [
      '1. read a.ts\n2. run npm test\n- delete b.ts',
      [read('a.ts'), run('npm test'), remove('b.ts')],
    ],
    [
      'read a.ts and then list, then run ls; read b.ts',
      [read('a.ts'), list(), run('ls'), read('b.ts')],
    ],
    ['Create a.txt with hi. Then read a.txt', [write('a.txt', 'hi\n'), read('a.txt')]],
    ['write me a poem', [unknown('write me a poem')]],
    ['create a web app', [unknown('create a web app')]],
    ['run the tests', [unknown('run the tests')]],
    ['hello', []],
    ['', []],
  ])('%j is understood', (query, steps) => {
    expect(parseSteps(query)).toEqual(steps);
  });
});

describe('a conversation with the demo model', () => {
  it('lists, reads what tells most, and summarises with references to the lines it read', async () => {
    const { turns, last } = await converse('what is in this project?', {
      files: { 'README.md': '# Demo\n```sh\nnpm i\n```', 'package.json': '{"name":"x"}' },
    });
    expect(turns).toEqual([
      [['list_dir', { target_directory: '.' }]],
      [
        ['read_file', { target_file: 'README.md' }],
        ['read_file', { target_file: 'package.json' }],
      ],
      [],
    ]);
    expect(last).toContain('````1:4:README.md\n# Demo\n```sh\nnpm i\n```\n````');
    expect(last).toContain('`package.json` names it `x`, with no scripts:');
  });

  it('reads independent files in one turn and dependent steps one after the other', async () => {
    const query = 'read a.ts and b.ts, then replace "foo" with "bar" in a.ts, then read a.ts';
    const { turns, last, files } = await converse(query, {
      files: { 'a.ts': 'foo(foo);', 'b.ts': '' },
    });
    expect(turns.map((calls) => calls.map(([name]) => name))).toEqual([
      ['read_file', 'read_file'],
      ['read_file'],
      ['str_replace'],
      ['read_file'],
      [],
    ]);
    expect(files['a.ts']).toBe('bar(bar);');
    expect(last).toContain('```1:1:a.ts\nbar(bar);\n```');
  });

  it('reads a file before it replaces all of it, when the tool asks for that', async () => {
    const { turns, files } = await converse('create a.md with "new"', { files: { 'a.md': 'old' } });
    expect(turns.flat().map(([name]) => name)).toEqual(['write', 'read_file', 'write']);
    expect(files['a.md']).toBe('new\n');
  });

  it('never replaces a file by a text of its own making', async () => {
    const { last, files } = await converse('create a.md', { files: { 'a.md': 'old' } });
    expect(files['a.md']).toBe('old');
    expect(last).toBe('I could not write `a.md`: Read it first. (READ_FIRST)');
  });

  it('says what failed, and does not do what was to follow', async () => {
    const { turns, last } = await converse('run npm test; delete a.ts', { files: { 'a.ts': '' } });
    expect(turns).toEqual([[['run_terminal_cmd', { command: 'npm test' }]], []]);
    expect(last).toBe(
      '`npm test` ended with exit code 1. It printed:\n\n```text\nboom\nExit code: 0\n```\n\n' +
        'So I stopped there, and did not delete `a.ts`.',
    );
  });

  it('says that a tool is not on offer, and calls none but those that are', async () => {
    const { turns, last } = await converse('read a.ts and then delete a.ts', {
      files: { 'a.ts': 'x' },
      tools: READ_TOOLS,
    });
    expect(turns).toEqual([[['read_file', { target_file: 'a.ts' }]], []]);
    expect(last).toContain('`delete_file` is not on offer');
  });

  it('says that there are no tools without a bridge', async () => {
    const { last } = await converse('run ls', { files: {}, tools: [] });
    expect(last).toContain('no bridge to a machine is attached');
  });

  it('reports each step once, and what it did not understand at once', async () => {
    const { texts } = await converse('juggle three balls; read a.ts; run ls', {
      files: { 'a.ts': 'x' },
    });
    const mentions = (words: string) => texts.map((text) => text.includes(words));
    expect(mentions('did not understand `juggle three balls`')).toEqual([true, false, false]);
    expect(mentions('I read 1 line of `a.ts`')).toEqual([false, true, false]);
    expect(mentions('`ls` ended')).toEqual([false, false, true]);
  });

  it('introduces itself only in its first answer', async () => {
    const first = await textOf({ messages: [ask('hello')], tools: ALL_TOOLS });
    const again = [ask('hello'), { role: 'assistant', content: first }, ask('hello again')];
    expect(first).toMatch(/^I am Drawbridge's built-in demo model.*not a language model\./);
    expect(await textOf({ messages: again, tools: ALL_TOOLS })).not.toContain('demo model:');
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

describe('the wire of the demo model', () => {
  const REQUEST = { messages: [ask('read ä👋.ts and run "echo 👋"')], tools: ALL_TOOLS };

  it('is that of OpenAI: role, text, finish reason, usage, end', async () => {
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

  it('brings text and arguments in pieces that fit together', async () => {
    const { pieces, calls, finishReason } = await answer(REQUEST);
    expect(pieces.length).toBeGreaterThan(5);
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
    expect(calls).toEqual([
      { id: 'call_demo_1', name: 'read_file', arguments: '{"target_file":"ä👋.ts"}' },
    ]);
    expect(finishReason).toBe('tool_calls');
  });

  it('is the same for the same request', async () => {
    expect(await demoReply(REQUEST).text()).toBe(await demoReply(REQUEST).text());
  });

  it('counts the ids of its calls through the whole conversation', async () => {
    const made = { id: 'x', type: 'function', function: { name: 'read_file', arguments: '{}' } };
    const messages = [
      ask('read a.ts'),
      { role: 'assistant', content: null, tool_calls: [made, { ...made, id: 'y' }] },
      ask('read b.ts and c.ts'),
    ];
    const { calls } = await answer({ messages, tools: ALL_TOOLS });
    expect(calls.map(({ id }) => id)).toEqual(['call_demo_3', 'call_demo_4']);
  });
});

type Files = Record<string, string>;
type MadeCall = [name: string, args: unknown];

/** Talks to the model until it calls no more tools, over files in memory. */
async function converse(
  query: string,
  { files, tools = ALL_TOOLS }: { files: Files; tools?: readonly string[] },
): Promise<{ turns: MadeCall[][]; texts: string[]; last: string; files: Files }> {
  const messages: DemoMessage[] = [ask(query)];
  const turns: MadeCall[][] = [];
  const texts: string[] = [];
  const seen = new Set<string>();
  while (turns.at(-1)?.length !== 0) {
    const { text, calls } = await answer({ messages, tools });
    texts.push(text);
    messages.push({ role: 'assistant', content: text, tool_calls: calls });
    turns.push(calls.map(({ name, arguments: args }) => [name, JSON.parse(args)]));
    for (const { id, name, arguments: args } of calls) {
      const parsed = findTool(name)?.arguments.parse(JSON.parse(args)) as Record<string, string>;
      messages.push({
        role: 'tool',
        tool_call_id: id,
        content: execute(name, parsed, files, seen),
      });
    }
  }
  return { turns, texts, last: texts.at(-1) ?? '', files };
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
    case 'write':
      if (text !== undefined && !seen.has(path)) return 'Error READ_FIRST: Read it first.';
      files[path] = args['contents'] ?? '';
      return `Created ${path} (1 line).`;
    case 'str_replace':
      files[path] = text?.replaceAll(args['old_string'] ?? '', args['new_string'] ?? '') ?? '';
      return `Edited ${path}.`;
    case 'run_terminal_cmd':
      return args['command'] === 'npm test'
        ? 'Exit code: 1\nSandbox: none.\nOutput:\nboom\nExit code: 0'
        : 'Exit code: 0\nSandbox: none.\nIt printed nothing.';
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

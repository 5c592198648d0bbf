import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { describe, expect, it } from 'vitest';
import { EDGE_TOOL_LIMITS } from '../../../shared/limits.ts';
import { findTool, toolsRunBy } from '../../../shared/tools/catalogue.ts';
import { createPlan } from '../../../shared/tools/create-plan.ts';
import { modeHasTool } from '../../../shared/tools/definition.ts';
import { BUILT_IN } from '../../../shared/tools/toolbox.ts';
import type { Mode } from '../../../shared/wire/modes.ts';
import { runEdgeTool } from '../../../worker/conversation/calls/edge-tools/edge-tools.ts';
import {
  answerQuestions,
  passOver,
} from '../../../worker/conversation/calls/edge-tools/questions.ts';
import { INTENTS, parseSteps } from '../../../worker/upstream/demo/intents.ts';
import {
  type DemoMessage,
  type DemoRequest,
  demoReply,
} from '../../../worker/upstream/demo/wire.ts';

const BRIDGE_TOOLS = toolsRunBy('bridge');
const ALL_TOOLS = BRIDGE_TOOLS.map((tool) => tool.name);
const READ_TOOLS = BRIDGE_TOOLS.filter((tool) => tool.effect === 'read').map((tool) => tool.name);
const offered = (mode: Mode) =>
  BUILT_IN.tools.filter((tool) => modeHasTool(mode, tool)).map(({ name }) => name);

describe('a request in plain words', () => {
  const read = (path: string): MadeCall => ['read_file', { target_file: path }];
  const list = (path = '.'): MadeCall => ['list_dir', { target_directory: path }];
  const run = (command: string): MadeCall => ['run_terminal_cmd', { command }];
  const find = (pattern: string, path = '.'): MadeCall => [
    'glob_file_search',
    { glob_pattern: pattern, target_directory: path },
  ];
  const search = (pattern: string, path?: string): MadeCall => [
    'grep',
    { pattern, ...(path !== undefined && { path }) },
  ];
  const explore = (query: string): MadeCall => ['codebase_search', { query }];
  const write = (path: string, contents: string): MadeCall => ['write', { path, contents }];
  const replace = (from: string, to: string, path: string): MadeCall[] => [
    read(path),
    ['str_replace', { file_path: path, old_string: from, new_string: to, replace_all: true }],
  ];
  const remove = (path: string): MadeCall => ['delete_file', { target_file: path }];
  const ask: MadeCall = ['ask_question', expect.anything()];

  it.each<[string, MadeCall[]]>([
    ['read src/main.ts', [read('src/main.ts')]],
    ['Please show me README.md.', [read('README.md')]],
    ['can you please read package.json for me?', [read('package.json')]],
    ['open "my file.txt"', [read('my file.txt')]],
    ['read a.ts, b.ts and c.ts', [read('a.ts'), read('b.ts'), read('c.ts')]],
    ['explain src/app.ts', [read('src/app.ts')]],
    ['list', [list()]],
    ['ls src', [list('src')]],
    ['ls .', [list()]],
    ['list the files in the src folder', [list('src')]],
    ['list the files here', [list()]],
    ['list the files in this project', [list()]],
    ['find *.ts in src', [find('*.ts', 'src')]],
    ['find "hello world" in src', [search('hello world', 'src')]],
    ['search for TODO in src', [search('TODO', 'src')]],
    ['search for f(x) in this project', [search(String.raw`f\(x\)`)]],
    ['where is createClient used?', [explore('where is createClient used')]],
    ['how does "b c" work?', [explore('how does "b c" work')]],
    ['create notes.md with hello world', [write('notes.md', 'hello world\n')]],
    ['create a.md with hello, how are you', [write('a.md', 'hello, how are you\n')]],
    ['create notes.md containing "milk; run away"', [write('notes.md', 'milk; run away\n')]],
    ['create a file called todo.txt', [write('todo.txt', '')]],
    ['write "x" to a/b.txt', [write('a/b.txt', 'x\n')]],
    ['create x.py:\n```python\nread = 1\n\nrun = 2\n```', [write('x.py', 'read = 1\n\nrun = 2\n')]],
    ['create a file with "hi"', [ask]],
    ['replace "foo" with "bar" in a.ts', replace('foo', 'bar', 'a.ts')],
    ['replace foo with "" in a.ts', replace('foo', '', 'a.ts')],
    ['delete old.txt', [remove('old.txt')]],
    ['run npm test', [run('npm test')]],
    ['run `npm test`', [run('npm test')]],
    ['run ls . | wc -l && echo "a; read b"', [run('ls . | wc -l && echo "a; read b"')]],
    ["what's in this project?", [list()]],
    [
      'read a.ts and then list, then run ls; read b.ts',
      [read('a.ts'), list(), run('ls'), read('b.ts')],
    ],
    ['Create a.txt with hi. Then read a.txt', [write('a.txt', 'hi\n'), read('a.txt')]],
    ['write a plan to plan.md', [write('plan.md', 'a plan\n')]],
  ])('%j is understood', (query, calls) => {
    const made = parseSteps(query).flatMap((step) => step.calls);
    expect(made.map(({ name, arguments: args }) => [name, args])).toEqual(calls);
  });

  it.each(['write me a poem', 'create a web app', 'run the tests', 'add a dark mode'])(
    '%j is left to a language model',
    (query) => {
      expect(parseSteps(query)).toMatchObject([{ title: query, calls: [] }]);
    },
  );

  it('is understood in every form that the demo model lists itself', async () => {
    const help = await textOf({ messages: [{ role: 'user', content: '' }], tools: [] });
    for (const { example } of INTENTS) {
      expect(help).toContain(`- ${example}\n`);
      expect(parseSteps(example).some(({ calls }) => calls.length > 0)).toBe(true);
    }
  });

  it('is cut apart in time, however long and odd it is', () => {
    for (const piece of ['in with ', 'a.b, ', '"a ', 'create a.md: ', '. find a', '\n', ' of to']) {
      parseSteps(`replace a ${piece.repeat(4_000)}`);
    }
  });
});

describe('a conversation with the demo model', () => {
  it('lists, reads what says most, and summarises with references to the lines it read', async () => {
    const { turns, texts, last } = await converse('what is in this project?', {
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
    expect(texts[1]).toContain('```text\nREADME.md\npackage.json\n');
    expect(last).toContain('````1:4:README.md\n# Demo\n```sh\nnpm i\n```\n````');
  });

  it('carries out one step after the other', async () => {
    const query = 'read a.ts and b.ts, then replace "foo" with "bar" in a.ts, then read a.ts';
    const { turns, last, files } = await converse(query, {
      files: { 'a.ts': 'foo(foo);', 'b.ts': '' },
    });
    expect(turns.map((calls) => calls.map(([name]) => name))).toEqual([
      ['read_file'],
      ['read_file'],
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

describe('a question about meaning', () => {
  const FILES = { 'src/login.ts': 'const login = 1;' };

  it('is searched for by meaning, and answered with the lines that come closest', async () => {
    const { turns, last } = await converse('how does login work?', { files: FILES });
    expect(turns).toEqual([[['codebase_search', { query: 'how does login work' }]], []]);
    expect(last).toContain('```text\nsrc/login.ts:1-1\n1|const login = 1;\n\nb.ts:3-4\n');
  });

  it('is not answered where that is not on offer', async () => {
    const tools = ALL_TOOLS.filter((name) => name !== 'codebase_search');
    const { last } = await converse('how does login work?', { files: FILES, tools });
    expect(last).toContain('`codebase_search` is not on offer');
  });
});

const tools = offered('plan');

it('a plan holds each step, and changes nothing', async () => {
  const before = { 'a.ts': 'let foo;', 'b.ts': 'x' };
  const { turns, last, files } = await converse(
    'replace foo with bar in a.ts, then delete b.ts; create a file; make it nice; run ls',
    { files: { ...before }, tools },
  );
  expect(files).toEqual(before);
  expect(turns.map((calls) => calls.map(([name]) => name))).toEqual([
    ['read_file'],
    ['create_plan'],
    [],
  ]);
  const titles = [
    'change `a.ts`',
    'delete `b.ts`',
    'create a file whose name you choose',
    'make it nice',
    'run `ls`',
  ];
  expect(planOf(turns)).toEqual({
    name: 'change a.ts +4',
    overview: `To ${titles.slice(0, 4).join(', ')} and run \`ls\`. Nothing is changed yet.`,
    plan: titles
      .map((title, index) => `${index + 1}. ${title}`)
      .join('\n')
      .replace('nice', '$& (this takes a language model)'),
    todos: titles.map((content, index) => ({
      id: `step-${index + 1}`,
      content,
      dependencies: index === 0 ? [] : [`step-${index}`],
    })),
  });
  expect(last).toBe('That is the plan. Ask for the same in agent mode.');
});

it('a plan of a request that the demo model cannot read says that it takes a language model', async () => {
  const { turns } = await converse('plan a dark mode', { files: {}, tools });
  expect(planOf(turns).plan).toBe('1. a dark mode (this takes a language model)');
});

it.each([
  ['comes after the reading before it', 'plan', 'read a.ts, then delete a.ts', 'delete `a.ts`'],
  ['may be of reading', 'plan', 'make a plan to read a.ts', 'read `a.ts`'],
  [
    'takes what follows with it, so that nothing is changed',
    'agent',
    'plan to delete a.ts, then run ls',
    'delete `a.ts`|run `ls`',
  ],
] as const)('a plan %s', async (_, mode, query, todos) => {
  const { turns, files } = await converse(query, {
    files: { 'a.ts': 'x' },
    tools: offered(mode),
  });
  expect(
    planOf(turns)
      .todos.map(({ content }) => content)
      .join('|'),
  ).toBe(todos);
  expect(files).toEqual({ 'a.ts': 'x' });
});

it('a plan is not needed to read', async () => {
  const { turns } = await converse('read a.ts and list', { files: { 'a.ts': 'x' }, tools });
  expect(turns.flat().map(([name]) => name)).toEqual(['read_file', 'list_dir']);
});

it('a plan is refused where plans are not on offer, and its steps are not carried out', async () => {
  const query = 'plan to delete a.ts';
  const { turns, last } = await converse(query, { files: {}, tools: offered('debug') });
  expect(turns).toEqual([[]]);
  expect(last).toContain('`create_plan` is not on offer');
});

it('a plan is one that the tool accepts, however much was asked for', async () => {
  const many = Array.from({ length: 200 }, (_, index) => `create ${index}${'x'.repeat(900)}.md`);
  const { turns } = await converse(many.join('\n'), { files: {}, tools });
  expect(planOf(turns).todos).toHaveLength(EDGE_TOOL_LIMITS.maxTodos);
});

const query = 'create a file with hi, then create a file with ho';

it.each([
  ['the option', { optionIds: ['hello.txt'] }, 'hello.txt'],
  ['the words', { optionIds: [], text: 'call it "docs/a.md".' }, 'docs/a.md'],
  ['one word', { optionIds: [], text: 'Makefile' }, 'Makefile'],
  ['the words before the option', { optionIds: ['hello.txt'], text: 'b.txt' }, 'b.txt'],
  ["the model's choice where the user leaves it that", { optionIds: [] }, 'notes.md'],
])('a file without a name is asked for each time, and gets %s', async (_, given, path) => {
  const { turns } = await converse(query, { files: {}, tools: offered('agent'), answer: given });
  expect(turns.map((calls) => calls.map(([name]) => name)).slice(0, 3)).toEqual([
    ['ask_question'],
    ['write'],
    ['ask_question'],
  ]);
  expect(turns[1]).toEqual([['write', { path, contents: 'hi\n' }]]);
});

it('a file without a name is left when the user writes something else instead', async () => {
  const { turns, last } = await converse('create a file', { files: {}, tools: offered('agent') });
  expect(turns).toHaveLength(2);
  expect(last).toBe('Without an answer I leave it at that.');
});

const REQUEST = { messages: [ask('read ä👋.ts and run "echo 👋"')], tools: ALL_TOOLS };

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
  expect(next.calls.map(({ id }) => id)).toEqual(['call_demo_4', 'call_demo_5']);
});

type Files = Record<string, string>;
type MadeCall = [name: string, args: unknown];
/** Of every question that is asked; null passes it over. */
type GivenAnswer = { optionIds: string[]; text?: string } | null;

interface Converse {
  readonly files: Files;
  readonly tools?: readonly string[];
  readonly answer?: GivenAnswer;
}

interface Conversed {
  readonly turns: MadeCall[][];
  readonly texts: string[];
  readonly last: string;
  readonly files: Files;
}

/** Talks to the model until it calls no more tools, over files in memory. */
async function converse(
  query: string,
  { files, tools = ALL_TOOLS, answer: given = null }: Converse,
): Promise<Conversed> {
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
      const content = executeOnEdge(name, parsed, given) ?? execute(name, parsed, files, seen);
      messages.push({ role: 'tool', tool_call_id: id, content });
    }
  }
  return { turns, texts, last: texts.at(-1) ?? '', files };
}

function toolCallOf({ id, ...made }: { id: string; name: string; arguments: string }) {
  return { id, type: 'function', function: made };
}

/** The result of one of the conversation's own tools; null for one of the bridge. */
function executeOnEdge(name: string, args: unknown, given: GivenAnswer): string | null {
  const outcome = runEdgeTool(name, args, {
    todos: [],
    modes: { present: 'agent', all: ['agent'] },
  });
  if (outcome?.type !== 'questions') return outcome?.result.data ?? null;
  const { questions } = outcome;
  const answers = questions.map(({ id }) => ({ questionId: id, optionIds: [], ...given }));
  return (given ? answerQuestions(questions, answers) : passOver(questions)).data;
}

/** The plan that was laid out, as the tool takes it. */
function planOf(turns: MadeCall[][]) {
  const call = turns.flat().find(([name]) => name === 'create_plan');
  return createPlan.arguments.parse(call?.[1]);
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
    case 'glob_file_search': {
      const found = Object.keys(files).filter((file) => file.endsWith(args['glob_pattern'] ?? ''));
      return [...found, `(${found.length} files, newest first.)`].join('\n');
    }
    case 'grep':
      return '(No matches.)';
    case 'codebase_search': {
      const [[first, line] = ['a.ts', ''], ...others] = Object.entries(files);
      const best = `${first}:1-1\n${numbered(line, 0)}`;
      return `${best}\n\nb.ts:3-4\n3|\n4|x\n\n(${others.length + 2} places, the best first.)`;
    }
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

import { expect, it } from 'vitest';
import { bindTool } from '../../../packages/host/tool.ts';
import { TOOLS } from '../../../shared/tools/catalogue.ts';
import { BUILT_IN, offered } from '../../../shared/tools/toolbox.ts';
import { fakeDefinition } from '../../far-ends/fake-offer.ts';

type Args = Record<string, unknown>;

const TODO = { id: 'a', content: 'x', status: 'pending' };
const QUESTION = { id: 'q', prompt: 'Which?', options: [{ id: 'o', label: 'This' }] };

it.for<[tool: string, args: Args, meant: Args]>([
  // Numbers and booleans as text.
  ['read_file', { target_file: 'a', offset: '5' }, { target_file: 'a', offset: 5 }],
  ['read_file', { target_file: 'a', offset: '-5' }, { target_file: 'a', offset: -5 }],
  ['grep', { pattern: '5', '-i': 'True', '-C': '2' }, { pattern: '5', '-i': true, '-C': 2 }],
  ['write', { path: '5', contents: 'true' }, { path: '5', contents: 'true' }],
  ['write', { path: 'a.json', contents: '{"a": 1}' }, { path: 'a.json', contents: '{"a": 1}' }],
  // Null for what is optional.
  ['read_file', { target_file: 'a', offset: null, limit: null }, { target_file: 'a' }],
  ['read_file', { target_file: null, path: 'a' }, { target_file: 'a' }],
  // Lists and objects as text, and lists of one.
  [
    'todo_write',
    { merge: 'false', todos: JSON.stringify([TODO]) },
    { merge: false, todos: [TODO] },
  ],
  ['todo_write', { merge: true, todos: [JSON.stringify(TODO)] }, { merge: true, todos: [TODO] }],
  ['todo_write', { merge: true, todos: TODO }, { merge: true, todos: [TODO] }],
  [
    'todo_write',
    { todos: [{ id: 1, content: 'x' }] },
    { merge: true, todos: [{ id: '1', content: 'x' }] },
  ],
  ['ask_question', { questions: JSON.stringify([QUESTION]) }, { questions: [QUESTION] }],
  [
    'codebase_search',
    { query: 'x', target_directories: '["src"]' },
    { query: 'x', target_directories: ['src'] },
  ],
  [
    'codebase_search',
    { query: 'x', target_directories: 'src' },
    { query: 'x', target_directories: ['src'] },
  ],
  ['run_terminal_cmd', { command: 'ls', permissions: '[]' }, { command: 'ls', permissions: [] }],
  // Other names.
  [
    'str_replace',
    { path: 'a', old_str: 'x', new_str: 'y' },
    { file_path: 'a', old_string: 'x', new_string: 'y' },
  ],
  [
    'str_replace',
    { filePath: 'a', oldString: 'x', newString: 'y', replaceAll: 'true' },
    { file_path: 'a', old_string: 'x', new_string: 'y', replace_all: true },
  ],
  ['write', { path: 'a', file_path: 'a', content: 'x' }, { path: 'a', contents: 'x' }],
  // The older form of read_file.
  [
    'read_file',
    {
      target_file: 'a',
      should_read_entire_file: false,
      start_line_one_indexed: '3',
      end_line_one_indexed_inclusive: '10',
    },
    { target_file: 'a', offset: 3, limit: 8 },
  ],
  [
    'read_file',
    { target_file: 'a', end_line_one_indexed_inclusive: 7 },
    { target_file: 'a', limit: 7 },
  ],
  [
    'read_file',
    {
      target_file: 'a',
      should_read_entire_file: 'true',
      start_line_one_indexed: 1,
      end_line_one_indexed_inclusive: 2,
    },
    { target_file: 'a' },
  ],
])('%s %j means %j, at the edge and at the bridge', ([tool, args, meant]) => {
  expect(BUILT_IN.find(tool)?.read(args)).toEqual({
    isValid: true,
    args: expect.objectContaining(meant),
  });
  const atEdge = argumentsOf(tool, args);
  expect([atBridge(tool, args), atBridge(tool, atEdge), argumentsOf(tool, atEdge)]).toEqual([
    atEdge,
    atEdge,
    atEdge,
  ]);
});

it.for<[tool: string, args: Args]>([
  // Something would be lost, or guessed.
  ['read_file', { target_file: 'a', offset: '5.0' }],
  ['read_file', { target_file: 'a', offset: '' }],
  ['read_file', { target_file: 'a', offset: '0x10' }],
  ['read_file', { target_file: 'a', offset: '12345678901234567890' }],
  ['read_file', { target_file: 'a', offset: true }],
  ['read_file', { target_file: 'a', start_line: 5, end_line: 4 }],
  ['read_file', { path: 'a', file_path: 'b' }],
  ['write', { path: 'a', contents: 5 }],
  ['write', { path: 'a', contents: { a: 1 } }],
  ['write', { path: 'a', contents: null }],
  ['write', { path: ['a'], contents: '' }],
  ['grep', { pattern: 'x', '-i': 'yes' }],
  ['grep', { pattern: 'x', '-i': 1 }],
  ['codebase_search', { query: 'x', target_directories: '["src"' }],
  ['todo_write', { todos: '[{"id": "a"}' }],
  ['todo_write', { todos: '[{"id": "\\ud800"}]' }],
  ['todo_write', { todos: '{}' }],
  ['todo_write', { todos: '' }],
  ['run_terminal_cmd', { command: 'ls', permissions: 'everything' }],
  ['str_replace', { file_path: 'a', old_string: 'x', old_str: 'y' }],
])('%s %j is refused at both', ([tool, args]) => {
  expect(BUILT_IN.find(tool)?.read(args).isValid).toBe(false);
  expect(() => atBridge(tool, args)).toThrow(/not valid/);
});

it.for<[tool: string, args: Args, ignored: string[]]>([
  ['read_file', { target_file: 'a', encoding: 'utf8', explanation: 'why' }, ['encoding']],
  ['read_file', { target_file: 'a', path: 'b' }, ['path']],
  ['read_file', { target_file: 'a', limit: 5, end_line: 9 }, ['end_line_one_indexed_inclusive']],
  ['read_file', { target_file: 'a', offset: -5, end_line: 9 }, ['end_line_one_indexed_inclusive']],
  ['read_file', { target_file: 'a', end_line: [3] }, ['end_line_one_indexed_inclusive']],
  ['read_file', { target_file: 'a', end_line: true }, ['end_line_one_indexed_inclusive']],
  ['grep', { pattern: 'x', '-n': true, case_sensitive: false }, ['-n', 'case_sensitive']],
  [
    'todo_write',
    {
      todos: [
        { ...TODO, priority: 'high' },
        { ...TODO, id: 'b', priority: 'low' },
      ],
    },
    ['todos.priority'],
  ],
  ['write', JSON.parse('{"path": "a", "contents": "", "__proto__": {}}'), ['__proto__']],
])('%s %j says that it ignored %j', ([tool, args, ignored]) => {
  expect(BUILT_IN.find(tool)?.read(args)).toMatchObject({ isValid: true, ignored });
});

it('a call with very many arguments costs little time', () => {
  const names = Array.from({ length: 100_000 }, (_, index) => [`a${index}`, index] as const);
  const read = BUILT_IN.find('list_dir')?.read(Object.fromEntries([...names, ['path', 'b']]));
  expect(read).toMatchObject({ isValid: true, args: { target_directory: 'b' } });
});

it('a refusal names the arguments that the tool does not know', () => {
  expect(BUILT_IN.find('delete_file')?.read({ fileName: 'a' })).toEqual({
    isValid: false,
    problem: expect.stringMatching(/target_file: .*Ignored, as unknown or given twice: fileName$/),
  });
});

it.for(['functions.read_file', 'default_api.Read', 'Read', 'read_file'])(
  '%s is read_file',
  (name) => {
    expect(BUILT_IN.nameOf(name)).toBe('read_file');
  },
);

it.for(['functions.functions.read_file', 'other.read_file', 'functions.', 'xfunctions.read_file'])(
  '%s is no tool',
  (name) => {
    expect(BUILT_IN.find(name)).toBeUndefined();
  },
);

it('no name of an argument stands for two, and none hides an argument of the tool', () => {
  for (const { name, renamed, arguments: schema } of TOOLS) {
    const own = Object.keys(schema.shape);
    expect([name, Object.keys(renamed).filter((each) => own.includes(each))]).toEqual([name, []]);
  }
});

it('an offered tool takes what its schema means, and keeps what it does not name', () => {
  const tool = offered({
    ...fakeDefinition(),
    digest: '0'.repeat(64),
    inputSchema: {
      type: 'object',
      properties: {
        count: { type: 'integer' },
        labels: { type: 'array', items: { type: 'string' } },
        any: {},
        maybe: { type: ['string', 'null'] },
      },
    },
  });
  const args = { count: '5', labels: '["a"]', any: '5', maybe: null, more: '7' };
  expect(tool.read(args)).toEqual({
    isValid: true,
    args: { count: 5, labels: ['a'], any: '5', maybe: null, more: '7' },
  });
});

function argumentsOf(tool: string, args: Args): Args {
  const read = BUILT_IN.find(tool)?.read(args);
  if (!read?.isValid) throw new Error(read?.problem);
  return read.args;
}

function atBridge(tool: string, args: Args): unknown {
  const definition = TOOLS.find(({ name }) => name === tool);
  if (!definition) throw new Error(tool);
  const propose = () => Promise.reject(new Error('not proposed'));
  return bindTool(definition, { propose }).read(args, 'conv_test').args;
}

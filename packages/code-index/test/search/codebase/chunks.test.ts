import { describe, expect, it } from 'vitest';
import { cpuMsOf } from '../../../../../test/cpu-time.ts';
import { cutIntoChunks } from '../../../search/codebase/chunks.ts';
import { nameDefinedBy } from '../../../search/codebase/definitions.ts';
import { CODEBASE_LIMITS } from '../../../search/codebase/limits.ts';

describe('cutIntoChunks', () => {
  it('cuts between functions and keeps a comment with its function', () => {
    const source = [
      ...block('function first() {', 18),
      '',
      '// What the second one is for.',
      ...block('function second() {', 18),
      '',
      ...block('function third() {', 18),
    ];
    expect(firstLines(source)).toEqual([
      'function first() {',
      '// What the second one is for.',
      'function third() {',
    ]);
  });

  it('cuts a long class between its methods', () => {
    const method = (name: string) => block(`  def ${name}(self):`, 25, '    pass');
    const source = ['class Long:', ...method('a'), '', ...method('b'), '', ...method('c')];
    expect(firstLines(source)).toEqual(['class Long:', '  def b(self):', '  def c(self):']);
  });

  it('cuts a document at its headings', () => {
    const source = ['# One', ...lines(20, 'text'), '## Two', ...lines(20, 'text')];
    expect(firstLines(source)).toEqual(['# One', '## Two']);
  });

  it.each([
    ['nothing', []],
    ['one line', ['x']],
    ['a wall of text', lines(1_000, 'x = y')],
    ['only blank lines', lines(200, '')],
    ['a deep block', lines(130, '    deep()')],
  ])('covers %s without gaps, in bounded chunks', (_, source) => {
    const chunks = cutIntoChunks(source);
    expect(chunks.flatMap(({ start, end }) => source.slice(start, end))).toEqual(source);
    for (const { start, end } of chunks) {
      expect(end - start).toBeGreaterThan(0);
      expect(end - start).toBeLessThanOrEqual(CODEBASE_LIMITS.maxChunkLines);
    }
  });
});

describe('nameDefinedBy', () => {
  it.each([
    ['def create_app(config):', 'create_app'],
    ['  async def fetch(self):', 'fetch'],
    ['class Journal implements Disposable {', 'Journal'],
    ['export async function runRipgrep(', 'runRipgrep'],
    ['export const grep = defineTool({', 'grep'],
    ['pub(crate) fn parse_header(&self) -> u8 {', 'parse_header'],
    ['func (s *Server) handleLogin(w http.ResponseWriter) {', 'handleLogin'],
    ['  public static List<String> findAll(int limit) {', 'findAll'],
    ['  async start(signal: AbortSignal): Promise<void> {', 'start'],
    ['app = Flask(__name__)', 'app'],
    ['interface Place<Granted> {', 'Place'],
    ['impl<T> Stack<T> {', 'Stack'],
    ['message LoginRequest {', 'LoginRequest'],
    ['static mut COUNT: u8 = 0;', 'COUNT'],
    ['the type of a value', null],
    ['  model the domain', null],
    ['CREATE TABLE IF NOT EXISTS users (', 'users'],
    ['#define MAX_SIZE 10', 'MAX_SIZE'],
    ['## How it flows', 'How it flows'],
    ['  if (isReady) {', null],
    ['  for (const a of b) {', null],
    ['  const local = 1;', null],
    ['  return call(a) {', null],
    ['app == other', null],
    ['', null],
  ])('%j defines %s', (line, name) => {
    expect(nameDefinedBy(line)).toBe(name);
  });

  it('takes no time for lines made to cost much', () => {
    const cpuMs = cpuMsOf(() => {
      for (const piece of ['a ', 'a<', '(', 'public ', 'a(b) ', 'a, ', '[a:']) {
        nameDefinedBy(piece.repeat(2_000));
        nameDefinedBy(piece.repeat(300 / piece.length));
      }
    });
    expect(cpuMs).toBeLessThan(1_000);
  });
});

function firstLines(source: readonly string[]): (string | undefined)[] {
  return cutIntoChunks(source).map(({ start }) => source[start]);
}

function block(head: string, length: number, line = '  work();'): string[] {
  return [head, ...lines(length, line), ...(head.endsWith('{') ? ['}'] : [])];
}

function lines(count: number, line: string): string[] {
  return new Array<string>(count).fill(line);
}

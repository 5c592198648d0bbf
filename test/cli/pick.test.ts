import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { plain } from '../../cli/terminal/paint.ts';
import { pickLine } from '../../cli/terminal/pick.ts';

test.each<[string, string, number | undefined]>([
  ['Enter takes the first', '\r', 0],
  ['an arrow moves the mark', '\x1b[B\r', 1],
  ['arrows go around', '\x1b[A\r', 2],
  ['also as some terminals send them', '\x1bOB\x1bOB\r', 2],
  ['a number moves the mark', '2\r', 1],
  ['a number without a line does nothing', '9\r', 0],
  ['other keys do nothing', 'x\x1b[C\t\r', 0],
  ['Ctrl-D takes none', '\x04', undefined],
])('picks a line: %s', async (_, keys, index) => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const { signal } = new AbortController();
  const around = { input, output, paint: plain, columns: 12, onInterrupt: () => {} };
  const picked = pickLine(['one', 'two', 'a line that is too long'], around, signal);
  input.write(keys);
  expect(await picked).toBe(index);
  expect(String(output.read())).toContain('❯ 1  one\n\x1b[2K  2  two\n\x1b[2K  3  a line\n');
});

test('a list of more lines than the screen has is drawn in a window that follows the mark', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const labels = Array.from({ length: 9 }, (_, at) => `line${at}`);
  const around = { input, output, paint: plain, columns: 20, rows: 5, onInterrupt: () => {} };
  const picked = pickLine(labels, around, new AbortController().signal);
  const drawn = (lines: readonly string[]) => lines.map((line) => `\x1b[2K${line}\n`).join('');
  expect(String(output.read())).toBe(drawn(['❯ 1  line0', '  2  line1', '  3  line2']));
  input.write('\x1b[B\x1b[B\x1b[B');
  await expect
    .poll(() => String(output.read()))
    .toBe(`\x1b[3A${drawn(['  2  line1', '  3  line2', '❯ 4  line3'])}`);
  input.write('\x1b[A\x1b[A\x1b[A\x1b[A');
  await expect
    .poll(() => String(output.read()))
    .toBe(`\x1b[3A${drawn(['  7  line6', '  8  line7', '❯ 9  line8'])}`);
  input.write('\r');
  expect(await picked).toBe(8);
});

test('a withdrawn list picks none, and Ctrl-C is told', async () => {
  const [input, output, ending] = [new PassThrough(), new PassThrough(), new AbortController()];
  const around = { input, output, paint: plain, columns: 80, onInterrupt: () => ending.abort() };
  const picked = pickLine(['one'], around, ending.signal);
  input.write('\x03');
  expect(await picked).toBeUndefined();
});

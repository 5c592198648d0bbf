import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { coloured, STYLES } from '../../../cli/terminal/paint.ts';
import { printableInColour } from '../../../cli/terminal/print.ts';
import { openTerminal } from '../../../cli/terminal/terminal.ts';
import { sourceFiles } from '../../source-files.ts';

/** What a server may send in an id, a date or a state: colours, a cleared screen, the clipboard, hidden text. */
const HOSTILE = [
  '\u001b]52;c;aGk=\u0007',
  '\u001b[2J',
  '\u009b31m',
  '\u202e',
  '\rX',
  '\u001b[8m',
  '\u001b[31',
  '\u001bc',
];
// biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them.
const RAW = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

it('keeps the styles of its own, and no other control of a terminal', () => {
  for (const style of STYLES) {
    const painted = coloured(style, 'words');
    expect(printableInColour(`${painted}\n`)).toBe(`${painted}\n`);
    for (const hostile of HOSTILE) {
      const [open = '', end = ''] = painted.split('words');
      const shown = printableInColour(`${open}${hostile}${end}`);
      expect(shown.startsWith(open) && shown.endsWith(end)).toBe(true);
      expect(shown.slice(open.length, shown.length - end.length)).not.toMatch(RAW);
    }
  }
});

it.each([
  ['a terminal', true],
  ['a pipe', false],
])('writes nothing to %s that controls it', (_, isTTY) => {
  const written: string[] = [];
  const stream = () => {
    const output = Object.assign(new PassThrough(), { isTTY, columns: 80 });
    output.on('data', (bytes) => written.push(String(bytes)));
    return output;
  };
  const streams = { stdin: new PassThrough(), stdout: stream(), stderr: stream() };
  const terminal = openTerminal(streams, { NO_COLOR: '1' });
  for (const hostile of HOSTILE) {
    terminal.write(hostile);
    terminal.writeOut(hostile);
    terminal.notify(hostile);
  }
  // A terminal's keyboard clears the line that it writes on.
  expect(written.join('').replaceAll('\r\u001b[J', '')).not.toMatch(RAW);
});

it('writes to the streams of the process in a few places', () => {
  const direct = sourceFiles().filter(
    (file) =>
      file.startsWith('cli/') &&
      /process\.std(?:out|err)\.write\(|console\.log\(/.test(
        readFileSync(join(import.meta.dirname, '../../..', file), 'utf8'),
      ),
  );
  expect(direct.sort()).toEqual([
    'cli/conversations/export.ts', // Made harmless where it goes to a terminal; a file gets every byte.
    'cli/terminal/ending.ts',
    'cli/terminal/print.ts',
    'cli/tui/input/shell.ts', // The person's own command.
  ]);
});

import { expect, it } from 'vitest';
import { piecesOf } from '../../web/parts/terminal-colours.ts';
import { lastLines, plainOutput } from '../../web/parts/terminal-lines.ts';

const ESC = '\u001b';
const BEL = '\u0007';

it.each([
  ['', 2, '', 0],
  ['a', 2, 'a', 0],
  ['a\nb\n', 2, 'a\nb', 0],
  ['a\nb\nc', 2, 'b\nc', 1],
  ['a\nb\nc\n', 2, 'b\nc', 1],
  ['\n\n\n', 2, '\n', 1],
  ['a\r\nb\r\nc\r\n', 2, 'b\r\nc\r', 1],
])('takes the last lines of %j', (output, count, text, hidden) => {
  expect(lastLines(output, count)).toEqual({ text, hidden });
});

it.each([
  ['a progress line', 'get 1%\rget 50%\rget 100%', 'get 100%'],
  [
    'a progress line that is cleared first',
    `\r${ESC}[Kget 1%\r${ESC}[Kget 2%\r${ESC}[0m`,
    'get 2%',
  ],
  ['line ends of Windows', 'a\r\nb\r', 'a\nb'],
  ['a title', `${ESC}]0;title${BEL}text`, 'text'],
  ['a title without an end', `${ESC}]0;title\ntext`, '\ntext'],
  ['a link', `${ESC}]8;;https://a.test${ESC}\\name${ESC}]8;;${ESC}\\`, 'name'],
  ['moves of the cursor', `a${ESC}[2Ab${ESC}[?25lc${ESC}(Bd${ESC}7e`, 'abcde'],
  ['colours in a form of their own', `${ESC}[38:2::1:2:3mtext`, 'text'],
  ['bold type of man', 'N\bNA\bAME', 'NAME'],
  ['a bell and marks of direction', `a${BEL}b\u202ec`, 'a\u2407b\ufffdc'],
  ['half a sequence', `text${ESC}[3`, 'text'],
])('shows %s as a terminal does', (_, output, text) => {
  expect(
    piecesOf(output)
      .map((piece) => piece.text)
      .join(''),
  ).toBe(text);
  expect(plainOutput(output)).toBe(text);
});

it('has the colours of a text, each as one that is readable on both themes', () => {
  const colours = [
    ['31', 'ansi-red'],
    ['1;92', 'ansi-green ansi-bold'],
    ['44', 'on-blue'],
    ['38;5;196', 'ansi-red'],
    ['38;5;244', ''],
    ['38;2;0;200;190', 'ansi-cyan'],
    ['8', ''],
    ['8;5;4', 'ansi-underline'],
  ] as const;
  for (const [code, classes] of colours) {
    expect(piecesOf(`a${ESC}[${code}mb${ESC}[0mc`), code).toEqual([
      { text: 'a', classes: '' },
      { text: 'b', classes },
      { text: 'c', classes: '' },
    ]);
  }
});

it('cuts a long line', () => {
  expect(piecesOf('x'.repeat(20_000))).toEqual([{ text: `${'x'.repeat(9_999)}…`, classes: '' }]);
});

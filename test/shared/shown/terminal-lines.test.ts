import { expect, it } from 'vitest';
import {
  lastLines,
  piecesOf,
  plainOutput,
  type TextLook,
} from '../../../shared/shown/terminal-lines.ts';

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
  const colours: [string, Partial<TextLook>][] = [
    ['31', { text: 'red' }],
    ['1;92', { text: 'green', decorations: ['bold'] }],
    ['44', { ground: 'blue' }],
    ['38;5;196', { text: 'red' }],
    ['38;5;244', {}],
    ['38;2;0;200;190', { text: 'cyan' }],
    ['8', {}],
    ['8;5;4', { decorations: ['underline'] }],
    ['31;39;41;49', {}],
    ['1;2;3;9;22', { decorations: ['italic', 'strikethrough'] }],
    ['1;31;0;3;23;4;24;9;29;1;21', {}],
    ['103', { ground: 'yellow' }],
    ['38;5;12;48;5;2;1', { text: 'blue', ground: 'green', decorations: ['bold'] }],
    ['38;5', { text: 'black' }],
    ['38;6;1', { decorations: ['bold'] }],
    ['31;1;1;', {}],
  ];
  const plain: TextLook = { decorations: [] };
  for (const [code, look] of colours) {
    expect(piecesOf(`a${ESC}[${code}mb${ESC}[0mc`), code).toEqual([
      { text: 'a', look: plain },
      { text: 'b', look: { ...plain, ...look } },
      { text: 'c', look: plain },
    ]);
  }
});

it('cuts a long line', () => {
  const look: TextLook = { decorations: [] };
  expect(piecesOf('x'.repeat(50_000))).toEqual([{ text: `${'x'.repeat(9_999)}…`, look }]);
});

it.each([
  ['a progress', `${'\rstep 1 of 9'.repeat(9_000)}\rstep 9 of 9`, 'step 9 of 9'],
  ['a progress that ends with a return', `${'\rold state'.repeat(9_000)}\r`, 'old state'],
  [
    'a line end of Windows',
    `${'\rold state'.repeat(9_000)}\r${'x'.repeat(9_998)}\r`,
    'x'.repeat(9_998),
  ],
])('finds the last state of %s in a line of any length', (_, output, text) => {
  expect(piecesOf(output).map((piece) => piece.text)).toEqual([text]);
});

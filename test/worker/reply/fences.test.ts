import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitsOf } from '../../../packages/model/test/splits.ts';
import { FenceSegmenter, type SegmentEvent } from '../../../worker/reply/fences.ts';
import { fewOf } from '../../depth.ts';
import { expectEqual } from '../../expect-equal.ts';

/** A segment with its whole content: text has no language. */
type Piece = readonly [language: string | null, content: string];

/** Title -> Markdown, and the segments it is cut into. */
type Case = readonly [string, string, readonly Piece[]];

const PLAIN: readonly Case[] = [
  ['nothing is no segment', '', []],
  ['white space alone is no segment', ' \n\t\n  ', []],
  ['prose is one segment', 'Some *words*.\n\nMore.', [[null, 'Some *words*.\n\nMore.']]],
  [
    'blank lines around prose are dropped, its indentation stays',
    '\n \n  a\n b \n\n',
    [[null, '  a\n b']],
  ],
  [
    'code between prose',
    'a\n```js\nx\n```\nb',
    [
      [null, 'a'],
      ['js', 'x'],
      [null, 'b'],
    ],
  ],
  [
    'blank lines around a fence belong to nothing',
    'a\n\n\n```js\nx\n```\n\n\nb',
    [
      [null, 'a'],
      ['js', 'x'],
      [null, 'b'],
    ],
  ],
  [
    'white space between two fences is no segment',
    '```a\nx\n```\n \n```b\ny\n```\n',
    [
      ['a', 'x'],
      ['b', 'y'],
    ],
  ],
  ['blank lines inside code stay', '```\n\n\na\n\n```', [['plaintext', '\n\na\n']]],
  [
    'white space at the ends of code lines stays',
    '```\na  \n  b\t\n```',
    [['plaintext', 'a  \n  b\t']],
  ],
  ['code can be empty', '```js\n```', [['js', '']]],
  ['code can be one blank line', '```js\n\n```', [['js', '']]],
  [
    'a fence interrupts a paragraph',
    'a\n```\nx\n```\nb',
    [
      [null, 'a'],
      ['plaintext', 'x'],
      [null, 'b'],
    ],
  ],
  [
    'CR LF becomes LF',
    'a\r\n\r\nb\r\n```js\r\nx\r\n\r\ny\r\n```\r\nc\r\n',
    [
      [null, 'a\n\nb'],
      ['js', 'x\n\ny'],
      [null, 'c'],
    ],
  ],
  ['a lone CR is a character', '```\na\rb\n```', [['plaintext', 'a\rb']]],
];

const FENCES: readonly Case[] = [
  ['tildes fence too', '~~~py\nx\n~~~', [['py', 'x']]],
  ['two characters are no fence', '``\nx\n``\n~~\ny\n~~', [[null, '``\nx\n``\n~~\ny\n~~']]],
  ['a fence stands at the start of a line', 'a ```\nx', [[null, 'a ```\nx']]],
  ['code spans are no fences', '```x``` and `y`', [[null, '```x``` and `y`']]],
  ["a backtick in a backtick fence's info makes it text", '``` a`b\nx', [[null, '``` a`b\nx']]],
  ["a backtick in a tilde fence's info does not", '~~~ a`b ~~~\nx\n~~~', [['a`b', 'x']]],
  ['a fence is closed by its own character only', '```\n~~~\nx\n```', [['plaintext', '~~~\nx']]],
  [
    'a shorter fence does not close',
    '````md\n```js\nx\n```\n````\na',
    [
      ['md', '```js\nx\n```'],
      [null, 'a'],
    ],
  ],
  [
    'a longer fence closes',
    '```\nx\n`````\na',
    [
      ['plaintext', 'x'],
      [null, 'a'],
    ],
  ],
  ['a closing fence has no info', '```\nx\n```js\ny\n```', [['plaintext', 'x\n```js\ny']]],
  [
    'a closing fence may have blanks behind it',
    '```\nx\n``` \t \na',
    [
      ['plaintext', 'x'],
      [null, 'a'],
    ],
  ],
  [
    'a closing fence with words behind it is code',
    '```\nx\n``` y\n```',
    [['plaintext', 'x\n``` y']],
  ],
  ['a closing fence that is broken up is code', '```\nx\n`` `\n```', [['plaintext', 'x\n`` `']]],
  ['the end closes', '```js\nx\ny', [['js', 'x\ny']]],
  ['the end closes behind a line end', '```js\nx\n', [['js', 'x']]],
  ['the end closes what is not quite a fence', '```js\nx\n``', [['js', 'x\n``']]],
  [
    'the end makes a fence of an opening line',
    'a\n```js',
    [
      [null, 'a'],
      ['js', ''],
    ],
  ],
  ['the end makes text of half a fence', 'a\n``', [[null, 'a\n``']]],
  ['a closing fence needs no line end', '```js\nx\n```', [['js', 'x']]],
];

const INDENTATION: readonly Case[] = [
  [
    'three blanks are allowed before a fence',
    '   ```\nx\n  ```\na',
    [
      ['plaintext', 'x'],
      [null, 'a'],
    ],
  ],
  ['four are not', '    ```\n    x\n    ```', [[null, '    ```\n    x\n    ```']]],
  ['nor is a tab', '\t```\nx', [[null, '\t```\nx']]],
  [
    'code loses as much indentation as its fence has',
    '  ```\n   a\n  b\n c\nd\n  ```',
    [['plaintext', ' a\nb\nc\nd']],
  ],
  ['a tab that is cut leaves blanks', '  ```\n\ta\n  ```', [['plaintext', '  a']]],
  [
    'a closing fence that is indented too much is code',
    '```\nx\n    ```\n```',
    [['plaintext', 'x\n    ```']],
  ],
  [
    'indented code that only looks like a fence is code',
    '```\n     ```\n```',
    [['plaintext', '     ```']],
  ],
];

const LISTS: readonly Case[] = [
  [
    'code in a list item loses the indentation of the item',
    '1. Run:\n\n   ```sh\n   a\n     b\n\n   c\n   ```\n2. Go',
    [
      [null, '1. Run:'],
      ['sh', 'a\n  b\n\nc'],
      [null, '2. Go'],
    ],
  ],
  [
    'the content of an item can begin at any column',
    '10. a\n\n    ```js\n    x\n    ```\n- b\n\n  - c\n\n    ~~~\n    y\n    ~~~',
    [
      [null, '10. a'],
      ['js', 'x'],
      [null, '- b\n\n  - c'],
      ['plaintext', 'y'],
    ],
  ],
  [
    'bullets can be padded and indented',
    ' *   a\n\n     ```\n     x\n     ```',
    [
      [null, ' *   a'],
      ['plaintext', 'x'],
    ],
  ],
  [
    'a fence can follow the marker',
    '- ```js\n  x\n  ```\n- b',
    [
      [null, '-'],
      ['js', 'x'],
      [null, '- b'],
    ],
  ],
  [
    'an item can begin with an empty line',
    '-\n  ```js\n  x\n  ```',
    [
      [null, '-'],
      ['js', 'x'],
    ],
  ],
  [
    'indented code in an item is text',
    '- a\n\n      ```js\n      x',
    [[null, '- a\n\n      ```js\n      x']],
  ],
  [
    'behind the list, four blanks are indented code again',
    '10. a\n\nb\n\n    ```js\n    x',
    [[null, '10. a\n\nb\n\n    ```js\n    x']],
  ],
  [
    'code that was never indented with its item is taken as it stands',
    '1. Run:\n   ```sh\na\n  b\n   ```\nc',
    [
      [null, '1. Run:'],
      ['sh', 'a\n  b'],
      [null, 'c'],
    ],
  ],
  [
    'a line that leaves the item does not end its code',
    '- Run:\n  ```sh\n  cat <<END\nx\nEND\n  ```\n- b',
    [
      [null, '- Run:'],
      ['sh', 'cat <<END\nx\nEND'],
      [null, '- b'],
    ],
  ],
  [
    'a closing fence may leave the item',
    '1. Run:\n   ```sh\n   a\n```\nb',
    [
      [null, '1. Run:'],
      ['sh', 'a'],
      [null, 'b'],
    ],
  ],
  ['a number needs its dot and a blank', '1.```\nx\n1 ```\ny', [[null, '1.```\nx\n1 ```\ny']]],
  ['a number has nine digits at most', '1234567890. ```\nx', [[null, '1234567890. ```\nx']]],
  ['emphasis is no bullet', '**a**\n*b*\n---\n+1', [[null, '**a**\n*b*\n---\n+1']]],
  ...['* * *', '- ---', '- - -', ' *  *\t*  ', '*     * *', '- - -- -'].map(
    (line): Case => [
      `a thematic break is no list item: ${line}`,
      `a\n\n${line}\n\n    \`\`\`js\n    x`,
      [[null, `a\n\n${line}\n\n    \`\`\`js\n    x`]],
    ],
  ),
  ...['- -', '* - *', '+ + +', '- - - a', '- --a', '* *'].map(
    (line): Case => [
      `what is almost a thematic break begins a list item: ${line}`,
      `${line}\n\n    \`\`\`js\n    x`,
      [
        [null, line],
        ['js', 'x'],
      ],
    ],
  ),
  [
    'a thematic break in an item does not leave it',
    '- a\n\n  * * *\n\n     ```js\n     x\n     ```',
    [
      [null, '- a\n\n  * * *'],
      ['js', 'x'],
    ],
  ],
  [
    'a thematic break can be all of an item',
    '- * * *\n\n      ```js\n      x',
    [[null, '- * * *\n\n      ```js\n      x']],
  ],
  [
    'a thematic break ends the list before it',
    '- a\n\n* * *\n\n     ```js\n     x',
    [[null, '- a\n\n* * *\n\n     ```js\n     x']],
  ],
  ['a fence in a quote is text', '> ```js\n> x\n> ```', [[null, '> ```js\n> x\n> ```']]],
];

const INFO: readonly Case[] = [
  ['the first word of the info is the language', '```  js  {1,3} title="a"\nx\n```', [['js', 'x']]],
  [
    'a reference names a file and its lines',
    '```12:14:src/main.py\nx\n```',
    [['12-14 src/main.py python', 'x']],
  ],
  [
    'everything behind the lines is the path',
    '```1:2:C:\\my files\\a b:c.ts {x}\nx\n```',
    [['1-2 C:\\my files\\a b:c.ts {x} plaintext', 'x']],
  ],
  ['a reference needs a path', '```12:14:\nx\n```', [['12:14:', 'x']]],
  ['a reference needs both lines', '```12::a.py\nx\n```', [['12::a.py', 'x']]],
  ['tildes can hold a reference', '~~~ 1:1:Makefile\nx', [['1-1 Makefile makefile', 'x']]],
];

describe.each([
  ['text and code', PLAIN],
  ['fences', FENCES],
  ['indentation', INDENTATION],
  ['lists and quotes', LISTS],
  ['info strings', INFO],
])('%s', (_, cases) => {
  it.each(cases)('%s', (__, markdown, pieces) => {
    for (const split of splitsOf(markdown)) expectEqual(segment(split), pieces);
  });
});

/** Title -> the text between interruptions, and the segments: each interruption is `|`. */
const BREAKS: readonly (readonly [string, readonly string[], readonly (Piece | '|')[]])[] = [
  ['text ends', ['a', 'b'], [[null, 'a'], '|', [null, 'b']]],
  ['nothing comes of nothing', ['', 'a', ''], ['|', [null, 'a'], '|']],
  [
    'code goes on in the same fence, which its own line closes',
    ['```sh\nls\n', 'pwd\n```\nb'],
    [['sh', 'ls'], '|', ['sh', 'pwd'], [null, 'b']],
  ],
  [
    'a fence that is closed behind it shows nothing',
    ['```sh\nls\n', '```\nb'],
    [['sh', 'ls'], '|', [null, 'b']],
  ],
  [
    'the line end of a cut line is none of its own',
    ['```sh\nls', '\n```\nb'],
    [['sh', 'ls'], '|', [null, 'b']],
  ],
  [
    'nor is one of two characters',
    ['```sh\nls', '\r\npwd\r\n```'],
    [['sh', 'ls'], '|', ['sh', 'pwd']],
  ],
  ['a cut line ends', ['```sh\nls', '```\nb'], [['sh', 'ls'], '|', [null, 'b']]],
  ['blank lines behind it stay', ['```sh\nls\n', '\npwd'], [['sh', 'ls'], '|', ['sh', '\npwd']]],
  [
    'a closing line without its end closes',
    ['```sh\nls\n```', 'b'],
    [['sh', 'ls'], '|', [null, 'b']],
  ],
  [
    'an opening line without its end opens',
    ['```sh', '\nls\n```\nb'],
    [['sh', ''], '|', ['sh', 'ls'], [null, 'b']],
  ],
  [
    'several interruptions are one',
    ['```sh\nls\n', '', '', 'pwd'],
    [['sh', 'ls'], '|', '|', '|', ['sh', 'pwd']],
  ],
  [
    'a reference stays one',
    ['```1:2:a.py\nx\n', 'y\n```'],
    [['1-2 a.py python', 'x'], '|', ['1-2 a.py python', 'y']],
  ],
  [
    'code keeps the indentation of its fence, and text its list item',
    ['10. a\n', '\n    ```js\n    x\n', '     y\n    ```'],
    [[null, '10. a'], '|', ['js', 'x'], '|', ['js', ' y']],
  ],
];

it.each(BREAKS)('what comes between %s', (_, stretches, pieces) => {
  for (const splits of splitsOfStretches(stretches)) expectEqual(segment(splits), pieces);
});

const ATOMS = [
  ...['`', '```', '````', '~~~', '~', 'js', '12:14:a b.py', 'a`b', 'word', '😀', 'x'],
  ...['\n', '\n', '\n\n', '\r\n', '\r', ' ', '   ', '\t', '- ', '1. ', '12) ', '* - ', '> '],
  ...['|', '* * *', '---'],
];

it('gives the same segments for every split of any Markdown', () => {
  const markdown = fc.string({ unit: fc.constantFrom(...ATOMS), maxLength: 14, size: 'max' });
  const isSame = fc.property(markdown, (text) => {
    const [whole, ...others] = [...splitsOfStretches(text.split('|'))].map(segment);
    // One look for all of them: an assertion for each would take most of the time.
    const wanted = JSON.stringify(whole);
    const other = others.find((pieces) => JSON.stringify(pieces) !== wanted);
    expect(other ?? whole).toEqual(whole);
  });
  fc.assert(isSame, { seed: 20_261_120, numRuns: fewOf(1_500, 300) });
});

describe('holding back', () => {
  it('gives out text at once, but for white space at its end', () => {
    expect(stream('a', ' ', 'b ', '*', ' c\n', '\n', '1', '. d')).toEqual([
      'start text | a',
      '',
      ' b',
      ' *',
      ' c',
      '',
      '\n\n1',
      '. d',
      'end',
    ]);
  });

  it('holds back only what may be a fence', () => {
    expect(stream('a\n', '`', '`', 'b', '\n```', 'js', ' x', '`', '\n~', '~~ y')).toEqual([
      'start text | a',
      '',
      '',
      '\n``b',
      '',
      '',
      '',
      '\n```js x`',
      '',
      '',
      'end | start code_block | end',
    ]);
  });

  it('holds back of code only what may be its closing line', () => {
    expect(
      stream('```js\n', 'a', '(`', '\n', ' ', ' b', '\n`', '``', '`x', '\n``` ', '\n'),
    ).toEqual(['start code_block', 'a', '(`', '', '', '\n  b', '', '', '\n````x', '', 'end', '']);
  });
});

it('reads lines without end in one pass', () => {
  const blanks = ' '.repeat(200_000);
  const starts = ['', '```', '~~~', '- ', '```\n', '```\n```'];
  for (const line of starts.flatMap((start) => [
    start + blanks,
    `${start}${'x'.repeat(200_000)}`,
  ])) {
    const segmenter = new FenceSegmenter();
    let chars = 0;
    for (const unit of line) chars += charsIn(segmenter.push(unit));
    // With a pass for each character this test would take minutes.
    expect(chars + charsIn(segmenter.end())).toBeLessThanOrEqual(line.length);
  }
});

function charsIn(events: readonly SegmentEvent[]): number {
  return events.reduce((sum, event) => sum + (event.type === 'delta' ? event.text.length : 0), 0);
}

/** The events that each piece brings, and at last those of the end. */
function stream(...pieces: readonly string[]): string[] {
  const segmenter = new FenceSegmenter();
  return [...pieces.map((piece) => segmenter.push(piece)), segmenter.end()].map((events) =>
    events.map(describeEvent).join(' | '),
  );
}

function describeEvent(event: SegmentEvent): string {
  if (event.type === 'start') return `start ${event.segment.type}`;
  return event.type === 'delta' ? event.text : 'end';
}

const BREAK = { isBreak: true } as const;
type Pushed = string | typeof BREAK;

/** Every stretch in two at every point, and unit by unit, with a break between each two stretches. */
function* splitsOfStretches(stretches: readonly string[]): Generator<Pushed[]> {
  const joined = (pieces: readonly (readonly string[])[]) =>
    pieces.flatMap((stretch, index): Pushed[] => [...(index === 0 ? [] : [BREAK]), ...stretch]);
  const whole = stretches.map((stretch) => [stretch]);
  yield joined(whole);
  for (const [index, stretch] of stretches.entries()) {
    for (const pieces of splitsOf(stretch)) yield joined(whole.with(index, pieces));
  }
  yield joined(stretches.map((stretch) => stretch.split('')));
}

/** The segments of the text; fails when their events are out of order. */
function segment(pieces: readonly Pushed[]): (Piece | '|')[] {
  const segmenter = new FenceSegmenter();
  const events = [
    ...pieces.flatMap((piece) =>
      typeof piece !== 'string' ? [...segmenter.break(), '|' as const] : segmenter.push(piece),
    ),
    ...segmenter.end(),
  ];
  const segments: (Piece | '|')[] = [];
  let open: string | null | undefined;
  let content = '';
  for (const event of events) {
    if (event === '|') {
      expect(open).toBe(undefined);
      segments.push('|');
      continue;
    }
    expect(event.type === 'start').toBe(open === undefined);
    if (event.type === 'start') open = languageIn(event.segment);
    else if (event.type === 'delta') content += event.text;
    else {
      segments.push([open ?? null, content]);
      content = '';
      open = undefined;
    }
  }
  expect(open).toBe(undefined);
  return segments;
}

function languageIn(segment: Extract<SegmentEvent, { type: 'start' }>['segment']): string | null {
  switch (segment.type) {
    case 'text':
      return null;
    case 'code_block':
      return segment.language;
    case 'code_reference': {
      const { startLine, endLine, filePath, language } = segment;
      return `${startLine}-${endLine} ${filePath} ${language}`;
    }
  }
}

import { expect, it } from 'vitest';
import { coloured, type Paint } from '../../../cli/terminal/paint.ts';
import { splitsOf } from '../../../packages/model/test/splits.ts';
import {
  begunEventsOf,
  deltaOf,
  doneWith,
  endOf,
  eventsOf,
  openTranscript,
  type WholeDocument,
} from './shown-transcript.ts';

const MARKDOWN = `# One
Two **three** \`four\` and a list:
- five
- six **seven**

  eight
- nine

1. ten
1. eleven
# Eleven
- a

- b
# Next
1. c

> twelve
> thirteen

| a | b |
|---|---|
| 1 | 2 |
| 3 | 4 |

\`\`\`ts
const fourteen = 15; // sixteen


seventeen();
\`\`\`
eighteen

Nineteen
===

---
<!-- twenty -->
[twenty-one](http://a.test) $22 and **23**
`;

const CODE = `/* one
two */
function three(four: string) {
  return \`five

  \${six}\`;
}


/** seven`;

it.each<[string, WholeDocument]>([
  ['Markdown', { type: 'text', content: MARKDOWN }],
  ['code', { type: 'code_block', content: CODE, metadata: { language: 'ts' } }],
  [
    'code of a file',
    {
      type: 'code_reference',
      content: CODE,
      metadata: { language: 'ts', filePath: 'a', startLine: 95, endLine: 104 },
    },
  ],
  ['a plan', { type: 'plan', content: MARKDOWN }],
])('%s in pieces looks like the whole, wherever it is cut', async (_, document) => {
  const whole = await shownIn([document.content ?? ''], document);
  for (const pieces of splitsOf(document.content ?? '')) {
    expect(await shownIn(pieces, document), JSON.stringify(pieces[0]?.slice(-20))).toEqual(whole);
  }
});

/** As it looks at the end, when it was drawn after each piece. */
async function shownIn(pieces: readonly string[], document: WholeDocument): Promise<string[]> {
  const { show, lines } = await openTranscript(coloured);
  show(...begunEventsOf({ ...document, content: '' }, 1));
  for (const piece of pieces) {
    show(deltaOf(piece));
    lines();
  }
  show(endOf(1), doneWith('completed'));
  return lines();
}

it.each<[string, WholeDocument, string]>([
  ['Markdown', { type: 'text' }, 'Some **bold** words.\n\n- a **list**\n\n'],
  ['code', { type: 'code_block', metadata: { language: 'ts' } }, 'const a = "b"; // c\n'],
])('draws only the end of %s anew that grows', async (_, document, piece) => {
  let painted = 0;
  const counting: Paint = (style, text) => {
    painted++;
    return coloured(style, text);
  };
  const { show, lines } = await openTranscript(counting);
  show(...begunEventsOf(document, 1));
  const counts = Array.from({ length: 300 }, () => {
    painted = 0;
    show(deltaOf(piece));
    lines();
    return painted;
  });
  expect(Math.max(...counts.slice(10))).toBeLessThanOrEqual(Math.max(...counts.slice(0, 10)));
});

it('colours what was shown before the highlighter was there', async () => {
  const { show, lines, look, transcript } = await openTranscript(coloured, { isLoaded: false });
  const documents: readonly WholeDocument[] = [
    { type: 'code_block', content: 'const a = 1;\n', metadata: { language: 'ts' } },
    { type: 'text', content: '```ts\nconst a = 1;\n```\n\nb\n' },
  ];
  for (const [at, document] of documents.entries()) show(...eventsOf(document, at + 1));
  const isColoured = () =>
    lines()
      .filter((line) => line.includes('const'))
      .map((line) => line.includes('\u001b'));
  expect(isColoured()).toEqual([false, false]);
  await look.colours.load();
  transcript.invalidate();
  expect(isColoured()).toEqual([true, true]);
});

it('draws everything again at another width', async () => {
  const { show, lines } = await openTranscript();
  show(...begunEventsOf({ type: 'text', content: `${'word '.repeat(30)}\n\n`.repeat(3) }, 1));
  const wide = lines(80);
  expect(Math.max(...lines(40).map((line) => line.length))).toBeLessThanOrEqual(40);
  expect(lines(80)).toEqual(wide);
});

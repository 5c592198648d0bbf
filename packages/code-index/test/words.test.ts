import { describe, expect, it } from 'vitest';
import { chunksOf } from '../chunks.ts';
import { conceptsOf, isWeak } from '../search/codebase/question.ts';
import { withSynonyms } from '../synonyms.ts';
import { indexWords } from '../words.ts';

describe('the words of the index', () => {
  it('are the parts of identifiers, without endings and without words that say nothing', () => {
    expect(indexWords('const retriedRequests = await parseHTTPHeader(the_value)')).toBe(
      'retr request retriedrequest await pars http header parsehttpheader valu thevalu',
    );
  });

  it.each([
    ['cancel', 'abort'],
    ['Wo werden Einstellungen gelesen?', 'config'],
    ['squeeze the body', 'compress'],
    ['memoized', 'cach'],
  ])('of %s include %s, which means the same', (question, word) => {
    const words = conceptsOf(question).flatMap((concept) => [...withSynonyms(concept).keys()]);
    expect(words).toContain(word);
  });

  it('of a German compound stand for those of its parts', () => {
    const words = (question: string) =>
      conceptsOf(question).flatMap((concept) => [...withSynonyms(concept).keys()]);
    expect(words('Fehlermeldung')).toEqual(expect.arrayContaining(['error', 'messag']));
    expect(words('Verbindungsaufbau')).toEqual(expect.arrayContaining(['connect', 'establish']));
    expect(words('zielserver')).toContain('host');
  });

  it('count less where they could be in any question', () => {
    const [weak, strong] = conceptsOf('several sockets');
    expect([weak && isWeak(weak), strong && isWeak(strong)]).toEqual([true, false]);
  });
});

describe('the chunks of a file', () => {
  it('cover every line once, however it is cut', async () => {
    const code = 'function a() {\n  return 1;\n}\n\n'.repeat(200).split('\n');
    for (const [path, parses] of [
      ['a.ts', true],
      ['a.ts', false],
      ['a.txt', true],
    ] as const) {
      const chunks = await chunksOf(path, code, parses);
      expect(chunks.map(({ start }) => start).slice(1)).toEqual(
        chunks.map(({ end }) => end).slice(0, -1),
      );
      expect([chunks[0]?.start, chunks.at(-1)?.end]).toEqual([0, code.length]);
    }
  });

  it('of a broken file are still chunks', async () => {
    const lines = ['class {{{ function (((', '', 'def x', '\u0000'];
    expect(await chunksOf('a.ts', lines, true)).toMatchObject([{ start: 0, end: 4 }]);
  });

  it('of a generated file are its beginning alone', async () => {
    const lines = [
      '// @generated',
      ...Array.from({ length: 500 }, (_, at) => `export const a${at} = 1;`),
    ];
    expect((await chunksOf('a.ts', lines, true)).length).toBe(1);
  });
});

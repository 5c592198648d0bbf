import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Random } from '../../bench/fuzz/random.ts';
import { NO_CHROMIUM, startBrowser } from '../browser/chromium.ts';
import type { PageServer } from '../browser/page-server.ts';
import { HOSTILE, randomMarkdown, randomPieces } from './markdown-cases.ts';
import { serveParts } from './parts-server.ts';

/** What parts-page.tsx has, which only the compiler of web/ can read. */
interface PartsPage {
  show(name: string, props: object): void;
  clear(): void;
  markdownOf(pieces: readonly string[]): string;
  timeOf(text: string, step: number): { all: number; longest: number };
  violations(): string[];
}

declare const page: PartsPage;

describe.skipIf(NO_CHROMIUM)(`the parts of the page in Chromium ${NO_CHROMIUM ?? ''}`, () => {
  let server: PageServer;
  let browser: Browser;
  let tab: Page;
  const requests: string[] = [];
  const problems: string[] = [];

  beforeAll(async () => {
    server = await serveParts();
    browser = await startBrowser();
    tab = await browser.newPage();
    tab.on('request', (request) => requests.push(request.url()));
    tab.on('pageerror', (error) => problems.push(String(error)));
    tab.on('dialog', (dialog) => {
      problems.push(dialog.message());
      void dialog.dismiss();
    });
    await tab.goto(server.origin);
    await tab.waitForFunction('globalThis.page');
  });

  afterAll(async () => {
    await browser.close();
    await server[Symbol.asyncDispose]();
  });

  /** Renders a part anew. */
  async function show(name: string, props: object): Promise<void> {
    await tab.evaluate(() => page.clear());
    await tab.evaluate(([part, all]) => page.show(part, all), [name, props] as const);
  }

  it('lets no Markdown run a script, load anything or lead to a place that it does not show', async () => {
    for (const text of [...HOSTILE, HOSTILE.join('\n\n'), HOSTILE.join(' ')]) {
      await show('Markdown', { text, isOpen: false });
      const elements = await tab.$$eval('main *', (nodes) => nodes.map((node) => node.tagName));
      for (const name of ['SCRIPT', 'IFRAME', 'STYLE', 'SVG', 'BASE', 'FORM', 'IMG']) {
        expect(elements, text).not.toContain(name);
      }
      const attributes = await tab.$$eval('main *', (nodes) =>
        nodes.flatMap((node) =>
          node.getAttributeNames().filter((name: string) => name.startsWith('on')),
        ),
      );
      expect(attributes, text).toEqual([]);
      const links = await tab.$$eval('main a[href]', (nodes) =>
        nodes.map((node) => [node.getAttribute('href'), node.getAttribute('rel')]),
      );
      for (const [href, rel] of links) {
        expect(href, text).toMatch(/^https:\/\//);
        expect(rel, text).toBe('noopener noreferrer');
      }
    }
    expect(await tab.evaluate(() => page.violations())).toEqual([]);
    expect(requests.filter((url) => !url.startsWith(server.origin))).toEqual([]);
    expect(problems).toEqual([]);
  });

  it('shows the host of a link whose text looks like another address', async () => {
    const text = '[https://apple.com](https://аpple.com) and [docs](https://docs.test)';
    await show('Markdown', { text, isOpen: false });
    expect(await tab.textContent('.markdown')).toBe(
      'https://apple.com (xn--pple-43d.com) and docs',
    );
  });

  it('makes the same of Markdown however it is cut', async () => {
    for (let seed = 1; seed <= 600; seed++) {
      const random = new Random(seed);
      const text = randomMarkdown(random);
      const pieces = randomPieces(text, random);
      const [whole, cut] = await tab.evaluate(
        ([all, some]) => [page.markdownOf([all]), page.markdownOf(some)],
        [text, pieces] as const,
      );
      expect(cut, `seed ${seed}: ${JSON.stringify(text)}`).toBe(whole);
    }
  });

  it('loses no word of Markdown', async () => {
    for (let seed = 1_000; seed <= 1_600; seed++) {
      const text = randomMarkdown(new Random(seed));
      const html = await tab.evaluate((all) => page.markdownOf([all]), text);
      const shown = html.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
      for (const word of new Set(text.match(/\p{L}{2,}/gu))) {
        // A line break has its name in the source. An image inside of a link shows only its host.
        if (['br', 'https', 'png'].includes(word)) continue;
        const [had, has] = [text, shown].map((all) => all.split(word).length);
        expect(has, `${word} in seed ${seed}: ${JSON.stringify(text)}`).toBeGreaterThanOrEqual(
          had ?? 0,
        );
      }
    }
  });

  it('goes on with a text that grows, and begins anew with another one', async () => {
    await show('Markdown', { text: 'one **two', isOpen: true });
    await tab.$eval('main strong', (node) => node.setAttribute('id', 'kept'));
    await tab.evaluate(() => page.show('Markdown', { text: 'one **two** three', isOpen: false }));
    expect(await tab.$eval('.markdown', (node) => node.innerHTML)).toBe(
      '<p dir="auto">one <strong id="kept">two</strong> three</p>',
    );
    await tab.evaluate(() => page.show('Markdown', { text: '*other*', isOpen: false }));
    expect(await tab.$eval('.markdown', (node) => node.innerHTML)).toBe(
      '<p dir="auto"><em>other</em></p>',
    );
  });

  it('has colours for code once it is complete, line numbers, and all of its text', async () => {
    const text = 'const a = "b"; // c\n<b>&amp;\n';
    await show('Code', { text, language: 'ts', isOpen: true, firstLine: 9 });
    expect(await tab.textContent('.code-text code')).toBe(text);
    expect(await tab.textContent('.numbers')).toBe('9\n10');
    await tab.evaluate(
      (all) => page.show('Code', { text: all, language: 'ts', isOpen: false, firstLine: 9 }),
      text,
    );
    await tab.waitForSelector('.code-keyword');
    expect(await tab.textContent('.code-text code')).toBe(text);
    expect(await tab.textContent('.code-string')).toBe('"b"');
    await show('Markdown', { text: `\`\`\`json\n{"a": 1}\n\`\`\`\n`, isOpen: false });
    await tab.waitForSelector('.markdown .code-attr');
  });

  it('folds a long output to its last lines, with their colours', async () => {
    const text = Array.from({ length: 20 }, (_, at) => `line ${at}`).join('\n');
    await show('Output', { text: `${text}\n\u001b[31mfailed\u001b[0m\n`, isOpen: false });
    expect(await tab.textContent('.output pre')).toMatch(/^line 9\n(?:line .*\n)+failed$/);
    expect(await tab.textContent('.ansi-red')).toBe('failed');
    await tab.click('text=9 more lines');
    expect(await tab.textContent('.output pre')).toMatch(/^line 0\n(?:line .*\n)+failed$/);
    await tab.click('text=Fold');
    expect(await tab.textContent('.output pre')).toMatch(/^line 9\n/);
  });

  it('turns no letters around, in prose and in code', async () => {
    await show('Markdown', { text: 'see \u202egnp.exe and \u2067\u05d0\u2069', isOpen: false });
    expect(await tab.textContent('.markdown')).toBe('see \ufffdgnp.exe and \u2067\u05d0\u2069');
    const text = 'if (isAdmin) \u2066// check\u2069 \u202e';
    await show('Code', { text, language: 'ts', isOpen: true });
    expect(await tab.textContent('.code-text code')).toBe(
      'if (isAdmin) \ufffd// check\ufffd \ufffd',
    );
  });

  it('breaks no line number where there is little room', async () => {
    const oldString = 'a long line of words '.repeat(20);
    await show('DiffRows', {
      hunks: [{ startLine: 1_234, endLine: 1_234, oldString, newString: 'x' }],
    });
    const heights = await tab.$eval('main', (main) => {
      main.style.cssText = 'container-type: inline-size; width: 300px';
      return [...main.querySelectorAll('tr')].map((row) => row.getBoundingClientRect().height);
    });
    expect(heights[1]).toBeLessThan(30);
  });

  it('shows the end of an output that grows', async () => {
    const lines = (count: number) => Array.from({ length: count }, (_, at) => `${at}`).join('\n');
    await show('Output', { text: lines(500), isOpen: true });
    await tab.click('text=more lines');
    const distance = () =>
      tab.$eval('.output pre', (box) => box.scrollHeight - box.scrollTop - box.clientHeight);
    for (const count of [900, 901, 1_300]) {
      await tab.evaluate((text) => page.show('Output', { text, isOpen: true }), lines(count));
      expect(await distance()).toBeLessThan(2);
    }
    await tab.$eval('.output pre', (box) => box.scrollTo(0, 0));
    await tab.evaluate((text) => page.show('Output', { text, isOpen: true }), lines(1_400));
    expect(await tab.$eval('.output pre', (box) => box.scrollTop)).toBe(0);
  });

  it('scrolls to the end in the task that adds to it, unless the reader looks elsewhere', async () => {
    const lines = (count: number) => Array.from({ length: count }, (_, at) => `${at}`).join('\n');
    const grow = (text: string) =>
      tab.$eval(
        '.following',
        async (box, all) => {
          page.show('Following', { text: all });
          await Promise.resolve();
          const { scrollHeight, scrollTop, clientHeight } = box;
          return { scrollTop, fromEnd: scrollHeight - scrollTop - clientHeight };
        },
        text,
      );
    await show('Following', { text: lines(50) });
    await expect.poll(async () => (await grow(lines(50))).fromEnd).toBeLessThan(2);
    expect((await grow(lines(60))).fromEnd).toBeLessThan(2);
    await tab.$eval('.following', (box) => {
      box.scrollTo(0, 100);
      return new Promise((resolve) => box.addEventListener('scroll', resolve, { once: true }));
    });
    expect((await grow(lines(70))).scrollTop).toBe(100);
    await tab.waitForSelector('.following >> text=news');
    expect((await grow(lines(80))).scrollTop).toBe(100);
  });

  it('folds a long change, and has signs beside the colours', async () => {
    const newString = Array.from({ length: 40 }, (_, at) => `new ${at}`).join('\n');
    const hunk = { startLine: 3, endLine: 3, oldString: 'old', newString };
    await show('DiffRows', { hunks: [hunk, { ...hunk, startLine: 9, newString: 'x\u202ey\r' }] });
    expect(
      await tab.$$eval('.diff tr', (rows) => rows.slice(0, 2).map((row) => row.textContent)),
    ).toEqual(['3−old', '3+new 0']);
    await tab.click('text=14 more lines');
    expect(
      await tab.$$eval('.diff tr', (rows) => rows.slice(-3).map((row) => row.textContent)),
    ).toEqual(['⋯', '9−old', '48+x\ufffdy']);
  });

  it('reports what long texts take', async () => {
    for (const [name, text, step] of LONG_TEXTS) {
      await tab.evaluate(() => page.clear());
      const times = await tab.evaluate(([all, size]) => page.timeOf(all, size), [
        text,
        step,
      ] as const);
      console.info(`${name}: ${JSON.stringify(times)}`);
    }
    expect(await tab.evaluate(() => page.violations())).toEqual([]);
  });
});

const PARAGRAPH = [
  '## What changes\n\nThe **bridge** reads `package.json`, then [the docs](https://a.test/docs).',
  '\n\n- one step\n- another, with *emphasis*\n\n| a | b |\n|---|---|\n| 1 | `2` |\n\n',
].join('');

/** A name, the text, and how much of it comes at once. */
const LONG_TEXTS: readonly (readonly [string, string, number])[] = [
  ['30 KB, 12 deltas of 4 characters in each frame', PARAGRAPH.repeat(150).slice(0, 30_000), 48],
  ['30 KB of code, as many in each frame', `\`\`\`js\n${'let a = 1;\n'.repeat(2_700)}`, 48],
  ['5 MB in one line', 'word '.repeat(1_000_000), 5_000_000],
  ['5 MB without a space', 'x'.repeat(5_000_000), 5_000_000],
  ...[
    '>',
    '*',
    '_',
    '[',
    '![',
    '](',
    '`',
    '(',
    '\\',
    '1',
    '#',
    '|',
    '- ',
    '**a ',
    'http://',
    '~',
  ].map((piece) => [`70 KB of ${piece}`, piece.repeat(70_000 / piece.length), 70_000] as const),
  ['an address without an end', `[a](${'(x'.repeat(35_000)}`, 70_000],
  ['an address in a text', `http://${'(a)'.repeat(23_000)}`, 70_000],
];

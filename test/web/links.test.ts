import { expect, it } from 'vitest';
import { isMisleading, linkOf, ownImageOf } from '../../web/parts/links.ts';

it.each([
  ['https://a.test/x?y#z', 'https://a.test/x?y#z', 'a.test'],
  ['<https://a.test/x y>', undefined, undefined],
  ['<https://a.test>', 'https://a.test/', 'a.test'],
  ['https://a.test "A title"', 'https://a.test/', 'a.test'],
  ['HTTP://A.test:8080', 'http://a.test:8080/', 'a.test:8080'],
  ['mailto:ana@a.test', 'mailto:ana@a.test', 'ana@a.test'],
  ['https://аpple.com', 'https://xn--pple-43d.com/', 'xn--pple-43d.com'],
  ['https://a.test@evil.test', 'https://a.test@evil.test/', 'evil.test'],
  ['javascript:alert(1)', undefined, undefined],
  ['JaVaScRiPt:alert(1)', undefined, undefined],
  ['java\nscript:alert(1)', undefined, undefined],
  ['\u0001javascript:alert(1)', undefined, undefined],
  ['data:text/html,<script>alert(1)</script>', undefined, undefined],
  ['vbscript:x', undefined, undefined],
  ['file:///etc/passwd', undefined, undefined],
  ['blob:https://a.test/1', undefined, undefined],
  ['//a.test', undefined, undefined],
  ['/settings', undefined, undefined],
  ['#anchor', undefined, undefined],
  ['https:\\\\a.test', undefined, undefined],
  ['https://a\u202e.test', undefined, undefined],
  ['', undefined, undefined],
])('%j leads to %s', (destination, href, place) => {
  expect(linkOf(destination)).toEqual(href === undefined ? undefined : { href, place });
});

it.each([
  ['github\u200a.\u200acom', 'evil.test', true],
  ['github\u2024com', 'evil.test', true],
  ['the docs', 'a.test', false],
  ['a.test', 'a.test', false],
  ['https://a.test/x', 'a.test', false],
  ['https://a.test/x', 'b.test', true],
  ['a.test', 'b.test', true],
  ['look at a.test', 'a.test', true],
  ['https://a.test@b.test/', 'b.test', true],
  ['https://аpple.com', 'xn--pple-43d.com', true],
  ['a。test', 'b.test', true],
  ['//a', 'b.test', true],
  ['ana@a.test', 'ana@a.test', false],
  ['ana@a.test', 'eve@b.test', true],
  ['a.test\u200b', 'a.test', true],
])('the text %j for %s is misleading: %s', (text, place, isIt) => {
  expect(isMisleading(text, place)).toBe(isIt);
});

it.each([
  ['data:image/png;base64,iVBORw0KGgo=', true],
  ['data:image/svg+xml;base64,PHN2Zy8+', false],
  ['data:text/html;base64,PHN2Zy8+', false],
  ['data:image/png,x', false],
  ['https://a.test/x.png', false],
  [`data:image/png;base64,${'A'.repeat(2 ** 20)}`, false],
])('takes an image of the text itself: %.40s', (destination, isTaken) => {
  expect(ownImageOf(destination)).toBe(isTaken ? destination : undefined);
});

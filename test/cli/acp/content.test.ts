import type { ContentBlock } from '@agentclientprotocol/sdk';
import { expect, it } from 'vitest';
import { toMessage } from '../../../cli/acp/content.ts';
import { findMentions } from '../../../shared/text/mentions.ts';

const FOLDER = '/home/ada/project';
const PNG = Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1').toString('base64');

const text = (words: string): ContentBlock => ({ type: 'text', text: words });
const link = (uri: string): ContentBlock => ({ type: 'resource_link', name: 'any', uri });
const file = (uri: string, content: string): ContentBlock => ({
  type: 'resource',
  resource: { uri, text: content },
});

it.each<[string, ContentBlock[], string]>([
  ['text as it is', [text('a '), text('b')], 'a b'],
  ['a file as a mention', [text('see '), link(`file://${FOLDER}/src/a.ts`)], 'see @src/a.ts'],
  ['a file with a blank', [link(`file://${FOLDER}/a%20b.ts`)], '@"a b.ts"'],
  ['lines of a file', [link(`file://${FOLDER}/a.ts#L3:9`)], '@a.ts:3-9'],
  ['one line of a file', [link(`file://${FOLDER}/a.ts#L3`)], '@a.ts:3-3'],
  ['a file elsewhere', [link('file:///etc/hosts')], '@/etc/hosts'],
  ['a file beside the folder', [link(`file://${FOLDER}-2/a.ts`)], `@${FOLDER}-2/a.ts`],
  ['a page', [link('https://example.com/a?b#c')], '@https://example.com/a?b#c'],
  ['any other address', [link('zed:///agent/thread/1')], 'zed:///agent/thread/1'],
  [
    'what the editor shows of a file, below the words',
    [text('Fix '), file(`file://${FOLDER}/a.ts`, 'let a;\n'), text(', please.')],
    'Fix `a.ts`, please.\n\n```a.ts\nlet a;\n\n```',
  ],
  [
    'a file with a fence in it',
    [file(`file://${FOLDER}/a.md#L1:3`, '```\nx\n```')],
    '`a.md:1-3`\n\n````a.md:1-3\n```\nx\n```\n````',
  ],
])('takes %s', (_, blocks, message) => {
  expect(toMessage(blocks, FOLDER)).toBe(message);
});

it('writes links so that the server finds the mentions', () => {
  const blocks = [link(`file://${FOLDER}/a%20b.ts#L3:9`), text(' and '), link('https://a.test/x')];
  expect(findMentions(String(toMessage(blocks, FOLDER)))).toEqual([
    { type: 'path', path: 'a b.ts', lines: { from: 3, to: 9 }, isCertain: true },
    { type: 'url', url: 'https://a.test/x' },
  ]);
});

it('takes images in their place', () => {
  const image: ContentBlock = { type: 'image', data: PNG, mimeType: 'image/jpeg' };
  expect(toMessage([text('Look: '), image], FOLDER)).toEqual([
    { type: 'text', text: 'Look: ' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
  ]);
});

it.each<[string, ContentBlock, string]>([
  ['audio', { type: 'audio', data: '', mimeType: 'audio/wav' }, 'audio'],
  ['a binary file', { type: 'resource', resource: { uri: 'file:///a.zip', blob: '' } }, '/a.zip'],
  ['an image that is none', { type: 'image', data: 'AAAA', mimeType: 'image/png' }, 'no'],
])('refuses %s', (_, block, why) => {
  expect(() => toMessage([block], FOLDER)).toThrow(why);
});

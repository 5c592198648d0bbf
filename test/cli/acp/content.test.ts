import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { expect, it, onTestFinished } from 'vitest';
import { toMessage } from '../../../cli/acp/content.ts';
import { mentionsIn } from '../../../shared/api/requests.ts';

const FOLDER = '/home/ada/project';
const PNG = Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1').toString('base64');

const text = (words: string): ContentBlock => ({ type: 'text', text: words });
const link = (uri: string): ContentBlock => ({ type: 'resource_link', name: 'any', uri });
const file = (uri: string, content: string): ContentBlock => ({
  type: 'resource',
  resource: { uri, text: content },
});

const path = (name: string, from?: number, to?: number) => ({
  type: 'path',
  path: name,
  ...(from !== undefined && { lines: { from, to } }),
});

it.each<[string, ContentBlock[], unknown]>([
  ['text as it is', [text('a '), text('b')], 'a b'],
  ['a file', [text('see'), link(`file://${FOLDER}/src/a.ts`)], [text('see'), path('src/a.ts')]],
  ['a scheme in capitals', [link(`FILE://${FOLDER}/src/a.ts`)], [path('src/a.ts')]],
  ['a file with a blank', [link(`file://${FOLDER}/a%20b.ts`)], [path('a b.ts')]],
  ['a file with quotes', [link(`file://${FOLDER}/a"b.ts`)], [path('a"b.ts')]],
  ['lines of a file', [link(`file://${FOLDER}/a.ts#L3:9`)], [path('a.ts', 3, 9)]],
  ['one line of a file', [link(`file://${FOLDER}/a.ts#L3`)], [path('a.ts', 3, 3)]],
  ['lines that are none', [link(`file://${FOLDER}/a.ts#L9:3`)], [path('a.ts')]],
  ['the folder', [link(`file://${FOLDER}/`)], [path('.')]],
  ['a file elsewhere', [link('file:///etc/hosts')], [path('/etc/hosts')]],
  ['a file beside the folder', [link(`file://${FOLDER}-2/a.ts`)], [path(`${FOLDER}-2/a.ts`)]],
  ['a page', [link('https://a.test/a?b#c')], [{ type: 'url', url: 'https://a.test/a?b#c' }]],
  ['any other address', [link('zed:///agent/thread/1')], 'zed:///agent/thread/1'],
  ['other addresses', [text('see'), link('zed:///a'), text('and')], 'see zed:///a and'],
  ['a file of another machine', [link('file://server/a.ts')], 'file://server/a.ts'],
  [
    'what the editor shows of a file, below the words',
    [text('Fix'), file(`file://${FOLDER}/a.ts`, 'let a;\n'), text(', please.')],
    'Fix `a.ts`, please.\n\n```a.ts\nlet a;\n\n```',
  ],
  [
    'a file with a fence in it',
    [file(`file://${FOLDER}/a.md#L1:3`, '```\nx\n```')],
    '`a.md:1-3`\n\n````a.md:1-3\n```\nx\n```\n````',
  ],
])('takes %s', async (_, blocks, message) => {
  expect(await toMessage(blocks, FOLDER)).toEqual(message);
});

it('reads no mention in what the editor shows', async () => {
  const content = 'a\n```\n@src/a.ts\n```\n@src/b.ts';
  const said = await toMessage([file(`file://${FOLDER}/a\`@c.md`, content)], FOLDER);
  expect(mentionsIn(said)).toEqual([]);
});

it('knows the workspace by every link that leads to it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'real/src'), { recursive: true });
  writeFileSync(join(folder, 'real/src/a.ts'), '');
  writeFileSync(join(folder, 'outside.ts'), '');
  symlinkSync(join(folder, 'real'), join(folder, 'link'));
  symlinkSync('link', join(folder, 'link2'));
  symlinkSync(join(folder, 'real/src'), join(folder, 'inner'));
  symlinkSync('a.ts', join(folder, 'real/src/alias.ts'));
  symlinkSync(join(folder, 'outside.ts'), join(folder, 'real/out.ts'));
  const named = async (uri: string, at: string) =>
    await toMessage([link(`file://${folder}/${uri}`)], join(folder, at));
  for (const at of ['real', 'link', 'link2']) {
    for (const by of ['real', 'link', 'link2']) {
      expect(await named(`${by}/src/a.ts`, at)).toEqual([path('src/a.ts')]);
      expect(await named(`${by}/src/alias.ts`, at)).toEqual([path('src/alias.ts')]);
      expect(await named(`${by}/new.ts`, at)).toEqual([path('new.ts')]);
      expect(await named(`${by}/out.ts`, at)).toEqual([path('out.ts')]);
      expect(await named(by, at)).toEqual([path('.')]);
    }
    expect(await named('inner/a.ts', at)).toEqual([path('src/a.ts')]);
    expect(await named('outside.ts', at)).toEqual([path(`${folder}/outside.ts`)]);
    expect(await named('gone/a.ts', at)).toEqual([path(`${folder}/gone/a.ts`)]);
  }
});

it('takes images in their place', async () => {
  const image: ContentBlock = { type: 'image', data: PNG, mimeType: 'image/jpeg' };
  expect(await toMessage([text('Look: '), image], FOLDER)).toEqual([
    { type: 'text', text: 'Look: ' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
  ]);
});

it.each<[string, ContentBlock, string]>([
  ['audio', { type: 'audio', data: '', mimeType: 'audio/wav' }, 'audio'],
  ['a binary file', { type: 'resource', resource: { uri: 'file:///a.zip', blob: '' } }, '/a.zip'],
  ['an image that is none', { type: 'image', data: 'AAAA', mimeType: 'image/png' }, 'no'],
])('refuses %s', async (_, block, why) => {
  await expect(toMessage([block], FOLDER)).rejects.toThrow(why);
});

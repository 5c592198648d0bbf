import type { ContentBlock } from '@agentclientprotocol/sdk';
import { expect, it } from 'vitest';
import { toMessage } from '../../../cli/acp/content.ts';
import { toContent } from '../../../cli/chat/message.ts';
import { toChatRequest, UiChatRequest } from '../../../doors/ui-messages/request.ts';
import {
  ChatRequest,
  type MessageContent,
  mentionsIn,
  textOf,
} from '../../../shared/api/requests.ts';
import { mentionOf } from '../../../shared/text/mention-text.ts';

const FOLDER = '/home/ada/project';

/** How a face hands over the paths of a message, each between two of the texts. */
type Face = (texts: readonly string[], paths: readonly string[]) => Promise<MessageContent>;

const received = (content: unknown): MessageContent =>
  ChatRequest.parse({ messages: [{ role: 'user', content }] }).messages[0]?.content ?? '';

/** The parts in order, made of a text or of a path. */
function alternate<Part>(
  texts: readonly string[],
  paths: readonly string[],
  { say, name }: { say: (text: string) => Part; name: (path: string) => Part },
): Part[] {
  return texts.flatMap((text, index) => {
    const path = paths[index];
    return [...(text === '' ? [] : [say(text)]), ...(path === undefined ? [] : [name(path)])];
  });
}

const apiParts = (texts: readonly string[], paths: readonly string[]) =>
  alternate<object>(texts, paths, {
    say: (text) => ({ type: 'text', text }),
    name: (path) => ({ type: 'path', path }),
  });

/** As a person leaves it who has taken the paths from a list: they divide mentions themselves. */
const written = (texts: readonly string[], paths: readonly string[]) =>
  alternate(texts, paths, { say: (text) => text, name: mentionOf }).join(' ');

const FACES: Readonly<Record<string, Face>> = {
  API: async (texts, paths) => received(apiParts(texts, paths)),
  ACP: async (texts, paths) => {
    const uri = (path: string) =>
      `file://${FOLDER}/${path.split('/').map(encodeURIComponent).join('/')}`;
    const blocks = alternate<ContentBlock>(texts, paths, {
      say: (text) => ({ type: 'text', text }),
      name: (path) => ({ type: 'resource_link', name: path, uri: uri(path) }),
    });
    return received(await toMessage(blocks, FOLDER));
  },
  useChat: async (texts, paths) => {
    const parts = alternate<object>(texts, paths, {
      say: (text) => ({ type: 'text', text }),
      name: (path) => ({ type: 'data-mention', data: { path } }),
    });
    const request = UiChatRequest.parse({
      id: 'chat',
      messages: [{ id: 'message', role: 'user', parts }],
    });
    return toChatRequest(request).messages[0]?.content ?? '';
  },
  'page and terminal': async (texts, paths) => {
    const chosen = new Map(paths.map((path) => [mentionOf(path), path]));
    return received(toContent(written(texts, paths), [], chosen));
  },
  'Cursor, which has only text,': async (texts, paths) => received(written(texts, paths)),
};

const NAMES = [
  'src/a.ts',
  'a b.ts',
  ' lead and trail ',
  '(group)/[id]/page.tsx',
  'notes.',
  '-x',
  'we"i"rd.ts',
  'back\\slash\\"',
  '@scope/x.ts',
  'ada@example.com',
  '漢字/é.ts',
  '100%25.ts',
  '#tag?.ts',
  'a:10-20',
  '`tick`.ts',
  'gone',
  'https:/x',
];
const AROUND = ['', 'see', 'see ', ', and', 'ada@', '(', '. So', '"', '/review', '是', 'a\n'];

it.each(Object.entries(FACES))('%s hands over what a message names', async (_, face) => {
  for (const name of NAMES) {
    for (const before of AROUND) {
      for (const after of AROUND) {
        const paths = [name, ...(after === '' ? [] : ['src/b.ts'])];
        const content = await face([before, after, ...(after === '' ? [] : [before])], paths);
        const places = mentionsIn(content).filter(({ type }) => type !== 'command');
        expect(places, JSON.stringify([before, name, after])).toEqual(
          paths.map((path) => ({ type: 'path', path, isCertain: expect.anything() })),
        );
        for (const path of paths) expect(textOf(content)).toContain(mentionOf(path));
        // A mention that is glued to a word would be none for a person who edits the message.
        expect(textOf(content)).not.toMatch(/[\p{L}\p{N}]@["s]/u);
      }
    }
  }
});

it('refuses more places than a message may name, and lines that are none', () => {
  const place = { type: 'path', path: 'a.ts' };
  const refused: unknown[] = [
    Array.from({ length: 21 }, (_, index) => ({ type: 'path', path: `${index}.ts` })),
    [{ ...place, lines: { from: 9, to: 3 } }],
    [{ ...place, lines: { from: 0, to: 3 } }],
    [{ type: 'path', path: '' }],
    [{ type: 'url', url: 'file:///etc/passwd' }],
    [{ ...place, isCertain: true }],
  ];
  for (const content of refused) expect(() => received(content)).toThrow();
  const twenty = Array.from({ length: 20 }, (_, index) => ({ type: 'path', path: `${index}.ts` }));
  expect(mentionsIn(received([...twenty, { type: 'text', text: 'and @more.ts' }]))).toHaveLength(
    20,
  );
  const same = [place, { type: 'text', text: 'or @a.ts' }];
  expect(mentionsIn(received(same))).toHaveLength(1);
});

import { describe, expect, test } from 'vitest';
import { LINK_LIMITS } from '../../../ide/link/limits.ts';
import { closedContent, readNotification } from '../../../ide/link/wire.ts';

const GEMINI = 'gemini-cli-companion-mcp-server';
const file = { path: '/w/a.ts', timestamp: 1 };

describe('news of the editor', () => {
  test.each<[method: string, params: unknown, news: unknown]>([
    ['ide/contextUpdate', {}, { type: 'context', openFiles: undefined, isTrusted: undefined }],
    [
      'ide/contextUpdate',
      { workspaceState: { isTrusted: false, theme: 'dark' } },
      { type: 'context', openFiles: undefined, isTrusted: false },
    ],
    [
      'ide/contextUpdate',
      { workspaceState: { openFiles: [{ ...file, language: 'ts', cursor: null }] } },
      { type: 'context', openFiles: [file], isTrusted: undefined },
    ],
    [
      'ide/diffAccepted',
      { filePath: '/w/a.ts', content: '' },
      { type: 'diff', filePath: '/w/a.ts', content: '' },
    ],
    [
      'ide/diffRejected',
      { filePath: '/w/a.ts', content: 'more' },
      { type: 'diff', filePath: '/w/a.ts' },
    ],
    [
      'ide/diffClosed',
      { filePath: '/w/a.ts', content: 'x' },
      { type: 'diff', filePath: '/w/a.ts' },
    ],
    ['ping', undefined, undefined],
    ['ide/somethingNew', { a: 1 }, undefined],
  ])('%s with %j', (method, params, news) => {
    expect(readNotification(method, params)).toEqual(news);
  });

  test.each<[method: string, params: unknown]>([
    ['ide/contextUpdate', undefined],
    ['ide/contextUpdate', { workspaceState: { isTrusted: 'no' } }],
    ['ide/contextUpdate', { workspaceState: { openFiles: [{ path: '/w/a.ts' }] } }],
    ['ide/contextUpdate', { workspaceState: { openFiles: [{ ...file, cursor: { line: '1' } }] } }],
    ['ide/diffAccepted', { filePath: '/w/a.ts', content: null }],
    ['ide/diffClosed', { filePath: 1 }],
  ])('%s with %j is not valid', (method, params) => {
    expect(readNotification(method, params)).toMatchObject({ type: 'invalid' });
  });

  test('has a bounded number of files', () => {
    const openFiles = Array(LINK_LIMITS.maxFilesRead + 1).fill(file);
    const news = readNotification('ide/contextUpdate', { workspaceState: { openFiles } });
    expect(news).toMatchObject({ openFiles: { length: LINK_LIMITS.maxFilesRead } });
  });
});

test.each<[text: string | undefined, server: string, content: string | undefined]>([
  ['{"content":"a\\n"}', GEMINI, 'a\n'],
  ['{"content":""}', GEMINI, ''],
  ['{"content":null}', GEMINI, undefined],
  ['{}', GEMINI, undefined],
  ['words', GEMINI, undefined],
  ['{"content":"a\\n"}', 'other', 'a\n'],
  ['words', 'other', 'words'],
  ['', 'other', ''],
  ['{"name":"x","content":"of a JSON file"}', 'other', '{"name":"x","content":"of a JSON file"}'],
  ['[1]', 'other', '[1]'],
  [undefined, 'other', undefined],
])('closeDiff with the text %j of %s gives %j', (text, server, content) => {
  const blocks = text === undefined ? [] : [{ type: 'text' as const, text }];
  expect(closedContent({ content: blocks }, server)).toBe(content);
});

test('closeDiff that failed gives nothing', () => {
  const content = [{ type: 'text' as const, text: 'no such diff' }];
  expect(closedContent({ content, isError: true }, 'other')).toBeUndefined();
});

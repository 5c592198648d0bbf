import { expect, it } from 'vitest';
import type { RequestContext } from '../../../../../shared/api/requests.ts';
import { type Findings, NOTHING_FOUND } from '../../../../../shared/wire/findings.ts';
import { filesOfRequest } from '../../../../../worker/conversation/memory/window/touched.ts';
import type { SentRun } from '../../../../../worker/conversation/memory/window/transcript.ts';

/** The workspace is `/real`; clients may name it `/link`. */
function filesOf(context: RequestContext, found: Partial<Findings>): string[] {
  const machine = { os: 'linux', shell: 'bash', workspacePath: '/real', projectLayout: '' };
  return filesOfRequest({
    ordinal: 1,
    status: 'running',
    request: { messages: [], context } as unknown as SentRun['request'],
    machine: { context: machine, findings: { ...NOTHING_FOUND, ...found } },
  });
}

it.each<[string, string | undefined, Partial<Findings>]>([
  ['the workspace', '/real', { client: 'same' }],
  ['the workspace, by a link', '/link/', { client: 'same' }],
  ['a folder in it', '/real/sub', { client: 'inside', clientFolder: 'sub' }],
  ['a folder in it, by a link', '/link/sub/', { client: 'inside', clientFolder: 'sub' }],
  ['no folder', undefined, {}],
])('finds the files of a client that has open %s', (_, workspacePath, found) => {
  const isInside = found.client === 'inside';
  const own = workspacePath?.replace(/\/$/, '') ?? '/real';
  const openFiles = [
    isInside ? 'a.ts' : 'sub/a.ts',
    { path: `${own}${isInside ? '' : '/sub'}/b.ts` },
    '/real/c.ts',
    '/elsewhere/d.ts',
    '../../e.ts',
  ];
  const context = { openFiles, ...(workspacePath && { workspacePath }) } as RequestContext;
  expect(filesOf(context, found)).toEqual(['sub/a.ts', 'sub/b.ts', 'c.ts']);
});

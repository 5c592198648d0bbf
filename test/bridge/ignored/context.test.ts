/** What the prompt shows of ignored paths. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readFindable, readShowable } from '../../../bridge/admission/judge.ts';
import { Finder } from '../../../bridge/context/finder.ts';
import { Looker } from '../../../bridge/context/looker.ts';
import { Workspace } from '../../../packages/workspace/workspace.ts';
import { findMentions } from '../../../shared/text/mentions.ts';
import { temporaryFolder, temporaryWorkspace } from '../tools/temporary-workspace.ts';

const { signal } = new AbortController();

async function seen(file: string, said: string) {
  const place = await temporaryWorkspace({
    'open.txt': 'open',
    'veiled/a.ts': 'VEILED',
    'b.veiled': 'VEILED',
    [file]: 'veiled/\n*.veiled\n',
  });
  execFileSync('git', ['init', '-q'], { cwd: place.root });
  const { workspace, ledger } = place.context;
  const { root } = place;
  const stateDir = await temporaryFolder();
  const surroundings = { root, stateDir, isForeign: async () => false, workspace };
  const openFiles = [{ path: 'b.veiled', isActive: true }, { path: 'open.txt' }];
  const looked = {
    root,
    confinement: { confineLook: async (launch: unknown) => launch },
    readShowable: () => readShowable(surroundings),
    pieces: [async () => ({ editor: { name: 'Zed', openFiles } })],
  } as unknown as ConstructorParameters<typeof Looker>[0];
  const looker = new Looker(looked, signal);
  const finding = {
    workspace,
    ledger,
    looker,
    worktreeOf: async () => undefined,
    readShowable: () => readFindable(surroundings, () => false),
    pieces: [],
  };
  const finder = new Finder(finding, signal);
  const mentions = findMentions(said);
  const { context, findings } = await finder.look({ conversationId: 'conv_test', mentions });
  const { projectLayout, gitStatus } = context;
  return { layout: projectLayout, status: gitStatus, ...findings };
}

it.each(['.cursorignore', '.geminiignore', '.qwenignore'])(
  'a path of %s is in no layout, status, open file and mention',
  async (file) => {
    const sight = await seen(file, 'see @./veiled/a.ts and @open.txt');
    expect(JSON.stringify(sight)).not.toContain('VEILED');
    expect(sight.layout).toBe('open.txt');
    expect(sight.status).not.toContain('veiled');
    expect(sight.openFiles).toMatchObject([{ path: 'open.txt' }]);
    expect(sight.attachments).toMatchObject([
      { type: 'none', name: './veiled/a.ts', text: expect.stringContaining(`closed by ${file}`) },
      { type: 'file', name: 'open.txt' },
    ]);
  },
);

it('a path of .cursorindexingignore is only shown where a message names it', async () => {
  const sight = await seen('.cursorindexingignore', 'see @veiled/a.ts');
  expect([sight.layout, sight.openFiles]).toMatchObject(['open.txt', [{ path: 'open.txt' }]]);
  expect(sight.status).not.toContain('veiled');
  expect(sight.attachments).toMatchObject([{ type: 'file', text: '1|VEILED' }]);
});

it('the ignore files of the folder that a worktree stands for hold in it', async () => {
  const place = await temporaryWorkspace({ 'main/.cursorignore': '/a.ts\n', 'tree/a.ts': 'x' });
  const root = join(place.root, 'tree');
  const workspace = await Workspace.open(root, { standsFor: join(place.root, 'main') });
  expect(workspace.mayName(join(root, 'a.ts'))).toBe(false);
  await expect(workspace.resolve('a.ts', 'read')).rejects.toMatchObject({ code: 'SECRET_PATH' });
});

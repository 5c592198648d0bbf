import { expect, it } from 'vitest';
import { findTool } from '../../../shared/tools/catalogue.ts';
import {
  closeWorktree,
  hasWorktrees,
  openWorktree,
  removeWorktree,
} from '../../../shared/tools/worktree.ts';

it.each(['--upload-pack=x', '-b', ' main', 'a\nb', '', 'x'.repeat(300)])(
  'a branch or base of the form %j is refused',
  (name) => {
    expect(openWorktree.arguments.safeParse({ branch: name }).success).toBe(false);
    expect(openWorktree.arguments.safeParse({ base: name }).success).toBe(false);
  },
);

it.each(['main', 'feature/a b', 'HEAD~3', 'origin/main', 'v1.0^{commit}'])(
  'a branch or base of the form %j reaches git, which decides',
  (name) => {
    expect(openWorktree.arguments.parse({ branch: name, base: name })).toEqual({
      branch: name,
      base: name,
    });
  },
);

it('no model can call the tools of worktrees', () => {
  const found = [openWorktree, closeWorktree, removeWorktree].map(({ name }) => findTool(name));
  expect(found).toEqual([undefined, undefined, undefined]);
});

it('a bridge has worktrees if it lists their tools', () => {
  expect(hasWorktrees({ tools: ['read_file', 'open_worktree'] })).toBe(true);
  expect(hasWorktrees({ tools: ['read_file'] })).toBe(false);
});

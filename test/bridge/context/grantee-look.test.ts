import { expect, it } from 'vitest';
import { type AccountLook, lookAs } from '../../../bridge/context/grantee-look.ts';
import type { RuleFile } from '../../../shared/wire/rules.ts';
import type { MachineContext } from '../../../shared/wire/tunnel.ts';

const ruleOf = (path: string, origin: RuleFile['origin']): RuleFile => ({
  path,
  origin,
  kind: 'always',
  folder: '',
  text: 'Be brief.',
});

const CONTEXT: MachineContext = {
  os: 'linux',
  shell: 'bash',
  workspacePath: '/work',
  projectLayout: '/work/\n  - a.ts',
  rules: {
    files: [ruleOf('AGENTS.md', 'workspace'), ruleOf('~/.claude/CLAUDE.md', 'owner')],
    leftOut: [{ path: '~/.claude/private.md', reason: 'it is empty' }],
  },
};

it('another account learns of no rule file of the owner, neither read nor left out', async () => {
  const look: Pick<AccountLook, 'grantees' | 'rooms'> & { readonly finder: object } = {
    finder: { look: async () => ({ context: CONTEXT }) },
    grantees: { mayName: () => true, grantFor: async () => ({ worktrees: false }) as never },
    rooms: { lookedOf: async () => undefined },
  };
  const { context } = await lookAs('acc_guest', look as AccountLook, undefined);
  expect(context.rules?.files.map(({ path }) => path)).toEqual(['AGENTS.md']);
  expect(JSON.stringify(context)).not.toContain('~');
});

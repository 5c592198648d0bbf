/** What a look shows to an account that the owner has let in: the folder, and nothing of the owner. */
import { type MessageLook, missedFindings } from '../../shared/wire/findings.ts';
import type { RuleFile } from '../../shared/wire/rules.ts';
import { skillsOfWorkspace } from '../../shared/wire/skills.ts';
import type { MachineContext } from '../../shared/wire/tunnel.ts';
import type { Finder, Sight } from './finder.ts';

export interface GranteeLook {
  readonly finder: Finder;
  /** The account's grant at this moment, as far as a look needs it; undefined without one. */
  readonly grant: { readonly worktrees?: true | undefined } | undefined;
  /** Whether the message is of a conversation that has a worktree. */
  readonly isApart: boolean;
}

/** Rejects only when the bridge ends. */
export async function lookForGrantee(
  { finder, grant, isApart }: GranteeLook,
  message: MessageLook | undefined,
): Promise<Sight> {
  const isFolderOpen = grant !== undefined && !grant.worktrees;
  if (!grant || !(isFolderOpen || isApart)) {
    const { context } = await finder.look(undefined);
    const findings = message && missedFindings(message);
    return { context: bare(grant ? context : nothingOf(context)), ...(findings && { findings }) };
  }
  // The index is about the folder itself.
  const asked = isFolderOpen ? message : message && { ...message, search: undefined };
  const { context, findings } = await finder.look(asked, { isOwners: false });
  return {
    context: isFolderOpen ? withoutOwner(context) : bare(context),
    ...(findings && { findings }),
  };
}

function nothingOf({ os, shell, workspacePath }: MachineContext): MachineContext {
  return { os, shell, workspacePath, projectLayout: '' };
}

/** Without what is about the folder's own files, but with the rules that it has for agents. */
function bare(context: MachineContext): MachineContext {
  const { projectLayout: _, gitStatus: __, ...rest } = withoutOwner(context);
  return { ...rest, projectLayout: '' };
}

function withoutOwner({ editor: _, rules, skills, ...context }: MachineContext): MachineContext {
  return {
    ...context,
    ...(rules && { rules: { ...rules, files: rules.files.filter(isOfWorkspaces) } }),
    ...(skills && { skills: skillsOfWorkspace(skills) }),
  };
}

function isOfWorkspaces({ origin }: RuleFile): boolean {
  return origin === 'workspace';
}

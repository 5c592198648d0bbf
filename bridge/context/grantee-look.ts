/** What a look shows to an account that the owner has let in: the folder, and nothing of the owner. */
import { type MessageLook, missedFindings } from '../../shared/wire/findings.ts';
import type { RuleFile } from '../../shared/wire/rules.ts';
import { skillsOfWorkspace } from '../../shared/wire/skills.ts';
import type { MachineContext } from '../../shared/wire/tunnel.ts';
import type { Grantees } from '../grantees/grantees.ts';
import type { Finder, Sight } from './finder.ts';

/** What a look needs to know of accounts and rooms. */
export interface AccountLook {
  readonly finder: Finder;
  readonly grantees: Pick<Grantees, 'mayName' | 'grantFor'>;
  readonly rooms: { readonly lookedOf: (conversationId: string) => Promise<object | undefined> };
}

/** The look of the account at this moment; undefined is the owner. Rejects only when the bridge ends. */
export async function lookAs(
  grantee: string | undefined,
  { finder, grantees, rooms }: AccountLook,
  message: MessageLook | undefined,
): Promise<Sight> {
  if (grantee === undefined) return await finder.look(message);
  const { conversationId, worktree } = message ?? {};
  const place = worktree === true ? conversationId : worktree;
  const named = [conversationId, place].filter((id) => id !== undefined);
  const mayName = named.every((id) => grantees.mayName(id, grantee));
  const grant = mayName ? await grantees.grantFor(grantee) : undefined;
  const room = grant && place && (await rooms.lookedOf(place));
  const isFolderOpen = grant !== undefined && !grant.worktrees;
  if (!grant || !(isFolderOpen || room)) {
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

/** What a look shows to an account that the owner has let in: the folder, and nothing of the owner. */
import { type MessageLook, missedFindings } from '../../shared/wire/findings.ts';
import type { RuleSet } from '../../shared/wire/rules.ts';
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
    const shown = shownTo(grant ? 'worktrees' : 'nothing', context);
    return { context: shown, ...(findings && { findings }) };
  }
  // The index is about the folder itself.
  const asked = isFolderOpen ? message : message && { ...message, search: undefined };
  const { context, findings } = await finder.look(asked, { isOwners: false });
  return {
    context: shownTo(isFolderOpen ? 'folder' : 'worktrees', context),
    ...(findings && { findings }),
  };
}

/** What the owner has opened to an account: nothing, worktrees of its own, or the folder itself. */
type Opened = 'nothing' | 'worktrees' | 'folder';

/** Has a row for each field, so that a new one must say what of it others than the owner get. */
function shownTo(opened: Opened, context: MachineContext): MachineContext {
  const { os, shell, workspacePath, projectLayout, gitStatus, rules, definitions, skills } =
    context;
  const isFolder = opened === 'folder';
  const isLetIn = isFolder || opened === 'worktrees';
  const shown: { [Field in keyof Required<MachineContext>]: MachineContext[Field] } = {
    os,
    shell,
    workspacePath,
    projectLayout: isFolder ? projectLayout : '',
    gitStatus: isFolder ? gitStatus : undefined,
    editor: undefined,
    rules: isLetIn && rules ? rulesOfWorkspace(rules) : undefined,
    definitions: isLetIn ? definitions : undefined,
    skills: isLetIn && skills ? skillsOfWorkspace(skills) : undefined,
  };
  const fields = Object.entries(shown).filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields) as MachineContext; // Only optional fields are undefined.
}

/** What was left out may be a file of the owner's own. */
function rulesOfWorkspace({ files }: RuleSet): RuleSet {
  return { files: files.filter(({ origin }) => origin === 'workspace'), leftOut: [] };
}

/** The mounts that show folders of the person's to commands in another folder: read-only, and without their secrets. */
import { type Account, otherRights } from './account.ts';
import { type BytePath, fromText } from './byte-path.ts';
import type { FolderLink } from './confinement.ts';
import { SANDBOX_LIMITS } from './limits.ts';
import { type ClosedEntry, WorkspaceScan } from './scan.ts';
import { closeEntries, mountable } from './view.ts';

/** `reason` is a sentence on why they cannot be shown. Secrets that appear in them later are not closed. */
export async function showLinks(
  links: readonly FolderLink[],
  account: Account,
): Promise<
  | { readonly ok: true; readonly mounts: readonly BytePath[] }
  | { readonly ok: false; readonly reason: string }
> {
  const mounts: BytePath[] = [];
  let count = 0;
  for (const { from, to } of links) {
    const [source, target] = [fromText(from), fromText(to)];
    const scan = new WorkspaceScan(source, otherRights(account));
    const { entries, isCut } = await scan.look(SANDBOX_LIMITS.firstScanMs);
    const isClosed = ({ closure, kind }: ClosedEntry) => closure === 'secret' && kind !== 'link';
    const secrets = mountable(entries.filter(isClosed));
    count += secrets.length;
    if (isCut || count > SANDBOX_LIMITS.maxFirstMounts) return { ok: false, reason: tooMany(from) };
    const moved = secrets.map((entry) => ({
      ...entry,
      path: `${target}${entry.path.slice(source.length)}`,
    }));
    mounts.push('--ro-bind', source, target, ...closeEntries(moved));
  }
  return { ok: true, mounts };
}

function tooMany(folder: string): string {
  return (
    `${folder} cannot be shown to commands, because it is too large or has more than ` +
    `${SANDBOX_LIMITS.maxFirstMounts} files with secrets: do not link it.`
  );
}

/** The accounts that a bridge's machine lets in beside its owner. */
import * as z from 'zod';
import { GRANT_LIMITS } from '../limits.ts';
import { named } from '../named.ts';
import { nameInLine } from '../text/plain-sight.ts';
import { Preset } from './preset.ts';

/** Whom a grant lets in: an account (`ben`), a user of an app (`app:shop:42`), or all of them (`app:shop`). */
export const GrantedName = z
  .string()
  .min(1)
  .max(GRANT_LIMITS.maxNameChars)
  .refine((name) => !/\s/.test(name) && nameInLine(name) === name, {
    error: 'must be visible characters without blanks',
  })
  .refine((name) => !/^app(:|$)/.test(name) || APP.test(name), {
    error: 'must be app:KEY for all users of an app, or app:KEY:USER for one',
  });

/** As KeyId and AppUser (shared/api/keys.ts). */
const APP = /^app:[a-z][a-z0-9]*(-[a-z0-9]+)*(:[\x21-\x7e]+)?$/;

/** What the owner lets another account do. */
export const AccountGrant = z.object({
  name: GrantedName,
  /** Tightens the owner's rules. Both must allow a call. */
  preset: Preset,
  /** Calls work in worktrees alone. */
  worktrees: z.literal(true).optional(),
  since: z.iso.datetime(),
});
named.add(AccountGrant, { id: 'AccountGrant' });
export type AccountGrant = z.infer<typeof AccountGrant>;

/** All that one bridge lets in. */
export const GrantedNames = z.array(GrantedName).max(GRANT_LIMITS.maxGrants);

/** The name that lets this account in: its own before that of its app. */
export function nameFor(account: string, names: readonly string[]): string | undefined {
  const own = names.find((name) => name === account && !isKey(name));
  return own ?? names.find((name) => isKey(name) && account.startsWith(`${name}:`));
}

function isKey(name: string): boolean {
  return /^app:[^:]*$/.test(name);
}

/**
 * The companions that the owner has confirmed at a terminal. Any process of this user can write a discovery file, so
 * the answers of other companions do not count.
 */
import { join } from 'node:path';
import * as z from 'zod';
import { sha256 } from '../../../../machine/hash.ts';
import { readIfThere, replaceFile } from '../../../../machine/private-files.ts';
import { parseJson } from '../../../../shared/text/json.ts';
import { canonicalJson } from '../../../../shared/wire/approval-text.ts';
import type { Candidate } from '../discovery/candidate.ts';
import { LINK_LIMITS } from './limits.ts';

const ConfirmedEditors = z.object({
  confirmed: z.array(z.string().regex(/^[0-9a-f]{64}$/)),
});

/** A companion as its discovery file describes it. */
export type CompanionIdentity = Pick<Candidate, 'port' | 'token'>;

/**
 * The SHA-256 of port and token. Not of the family: one companion can announce itself as both. Undefined without a
 * token: then nothing distinguishes the companion from another program that takes its port later.
 */
export function identityOf({ port, token }: CompanionIdentity): string | undefined {
  if (token === undefined || token === '') return undefined;
  return sha256(canonicalJson({ port, token }));
}

/** Whether both have the same identity. One companion can have two: a token for each family. */
export function isSameCompanion(one: CompanionIdentity, other: CompanionIdentity): boolean {
  return one.port === other.port && one.token === other.token;
}

/** Whether the owner has confirmed the companion. False also where the file of the state folder cannot be read. */
export async function isConfirmed(
  stateDir: string,
  companion: CompanionIdentity,
): Promise<boolean> {
  const identity = identityOf(companion);
  if (identity === undefined) return false;
  const confirmed = await readConfirmed(stateDir).catch((): string[] => []);
  return confirmed.includes(identity);
}

/** Stores the owner's yes. A damaged file is replaced: the editors in it can be confirmed again. */
export async function confirmCompanion(
  stateDir: string,
  companion: CompanionIdentity,
): Promise<void> {
  const identity = identityOf(companion);
  if (identity === undefined) throw new Error('A companion without a token cannot be confirmed.');
  const before = await readConfirmed(stateDir).catch((): string[] => []);
  const others = before.filter((one) => one !== identity);
  const confirmed = [...others, identity].slice(-LINK_LIMITS.maxConfirmed);
  replaceFile(fileIn(stateDir), `${JSON.stringify({ confirmed }, null, 2)}\n`);
}

async function readConfirmed(stateDir: string): Promise<string[]> {
  const text = await readIfThere(fileIn(stateDir));
  return text === undefined ? [] : ConfirmedEditors.parse(parseJson(text)).confirmed;
}

function fileIn(stateDir: string): string {
  return join(stateDir, 'editors.json');
}

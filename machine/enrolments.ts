/** The secrets that enrol one device each. A server's state folder holds those that are open. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { ENROLMENT_LIMITS } from '../shared/limits.ts';
import { enrolmentText } from '../shared/wire/approval-text.ts';
import type { EnrolmentRequest } from '../shared/wire/enrolment.ts';
import { changeDevices, isSameKey, readEnrolled } from './enrolled-devices.ts';
import { takeTurn } from './lock.ts';
import { replaceFile } from './private-files.ts';
import { readStateFile } from './state-file.ts';

const OpenEnrolment = z.object({
  secret: z.string(),
  expires: z.iso.datetime(),
  /** The command that made it. */
  maker: z.string(),
  /** The origin of the page whose passkey it enrols, and no other device. */
  page: z.string().optional(),
});
type OpenEnrolment = z.infer<typeof OpenEnrolment>;

const OpenEnrolments = z.object({ open: z.array(OpenEnrolment) });

/**
 * Makes a secret with which one device can be enrolled, once, until it expires: with `page` a passkey of that origin, and
 * without it none. The state folder must exist.
 * @throws {LocalError} if another program keeps changing the file, or it is damaged.
 */
export async function openEnrolment(
  serverDir: string,
  maker: string,
  now: Date,
  page?: string,
): Promise<OpenEnrolment> {
  const secret = randomBytes(ENROLMENT_LIMITS.secretBytes).toString('base64url');
  const expires = new Date(now.getTime() + ENROLMENT_LIMITS.openMs).toISOString();
  const made = { secret, expires, maker, ...(page !== undefined && { page }) };
  await changeOpen(serverDir, (open) => [...open.filter((each) => isOpen(each, now)), made]);
  return made;
}

/** Whether the secret can still enrol a device. @throws {LocalError} for a damaged file. */
export async function isEnrolmentOpen(
  serverDir: string,
  secret: string,
  now: Date,
): Promise<boolean> {
  const open = await readOpen(serverDir);
  return open.some((each) => each.secret === secret && isOpen(each, now));
}

/** Whether there was ever a secret: the file outlives all of them. A restored state begins anew. */
export function hadEnrolment(serverDir: string): boolean {
  return existsSync(join(serverDir, FILE));
}

/** `known`: the device was enrolled before. `ended`: no open secret has made the MAC. */
export type EnrolmentEnd =
  | { readonly state: 'enrolled'; readonly maker: string }
  | { readonly state: 'known' | 'ended' };

/**
 * Enrols a device for the whole machine, if one of the open secrets has made its MAC, and ends that secret. A bridge
 * calls it once at a time.
 * @throws {LocalError} if a file is damaged, or another program keeps changing it.
 */
export async function enrolBySecret(
  serverDir: string,
  bridgeId: string,
  { device, mac }: EnrolmentRequest,
  now: Date,
): Promise<EnrolmentEnd> {
  const known = (await readEnrolled(serverDir)).find(
    ({ deviceId }) => deviceId === device.deviceId,
  );
  if (known && !isSameKey(known, device)) return { state: 'ended' };
  const text = enrolmentText({ bridgeId, device });
  const fits = (each: OpenEnrolment) =>
    isOpen(each, now) && each.page === device.passkey?.origin && isMacOf(each.secret, text, mac);
  const taken = await takeOpen(serverDir, fits);
  if (known) return { state: 'known' };
  if (!taken) return { state: 'ended' };
  const enrolled = { ...device, enrolledAt: now.toISOString() };
  await changeDevices(serverDir, (devices) => [...devices, enrolled]);
  return { state: 'enrolled', maker: taken.maker };
}

/** A crash after it leaves a secret that is gone, and never one that counts for a second key. */
async function takeOpen(
  dir: string,
  fits: (each: OpenEnrolment) => boolean,
): Promise<OpenEnrolment | undefined> {
  // The lock's file grows with each use, and anyone at the edge can send a MAC that fits nothing.
  if (!(await readOpen(dir)).some(fits)) return undefined;
  let taken: OpenEnrolment | undefined;
  await changeOpen(dir, (open) => {
    taken = open.find(fits);
    return open.filter((each) => each !== taken);
  });
  return taken;
}

async function changeOpen(
  dir: string,
  change: (open: readonly OpenEnrolment[]) => readonly OpenEnrolment[],
): Promise<void> {
  using _ = await takeTurn(join(dir, 'enrolments.lock'), BUSY);
  const open = change(await readOpen(dir));
  replaceFile(join(dir, FILE), JSON.stringify({ open }));
}

async function readOpen(dir: string): Promise<readonly OpenEnrolment[]> {
  return (await readStateFile(join(dir, FILE), OpenEnrolments))?.open ?? [];
}

const FILE = 'enrolments.json';
const BUSY = 'Another program is enrolling a device: wait until it ends, and try again.';

function isOpen({ expires }: OpenEnrolment, now: Date): boolean {
  return now.getTime() < Date.parse(expires);
}

function isMacOf(secret: string, text: string, mac: string): boolean {
  const expected = createHmac('sha256', secret).update(text).digest();
  const given = Buffer.from(mac, 'base64url');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

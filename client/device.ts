/** Signs approvals with a device's own key; a bridge trusts the signature of an enrolled device. */

import { encodeBase64Url } from '../shared/text/base64url.ts';
import { sha256 } from '../shared/text/sha256.ts';
import {
  approvalText,
  type Choice,
  DEVICE_ALGORITHM,
  grantOf,
  portText,
} from '../shared/wire/approval-text.ts';
import type { ApprovalQuestion, DeviceKey, Proposal, Signature } from '../shared/wire/approvals.ts';
import type { PasskeySignature } from '../shared/wire/passkey.ts';
import type { PortRequest } from '../shared/wire/processes.ts';
import type { PrivateKey } from '../shared/wire/proof.ts';
import { clientError } from './error.ts';

/** An enrolled device. Its private key never leaves it. */
export type Device = StoredDevice | KeyedDevice | PasskeyDevice;

/** A device whose key is a file of its machine. */
export interface StoredDevice {
  readonly deviceId: string;
  /** A P-256 key as JWK (RFC 7518, section 6.2). */
  readonly privateJwk: DeviceKey['publicKey'] & { readonly d: string };
}

/** A device whose key no script can read. IndexedDB stores the whole object. */
export interface KeyedDevice {
  readonly deviceId: string;
  readonly privateKey: PrivateKey;
}

/** A device whose key is in an authenticator, which asks its person for each signature. */
export interface PasskeyDevice {
  readonly deviceId: string;
  /** Has the authenticator sign the text, as `isSignedByPasskey` checks it. Rejects if its person does not want to. */
  sign(text: string): Promise<PasskeySignature>;
}

/**
 * Makes a device with a key that cannot be exported. Keep `device` on the machine; its approvals count once the bridge's
 * owner has enrolled `enrolment` there. A page needs a secure context (https, or localhost).
 */
export async function createDevice(
  label: string,
): Promise<{ readonly device: KeyedDevice; readonly enrolment: DeviceKey }> {
  const deviceId = `device_${crypto.randomUUID()}`;
  const { privateKey, publicKey } = await makeKey();
  return {
    device: { deviceId, privateKey },
    enrolment: { deviceId, label, publicKey },
  };
}

/** A new key pair of P-256. Without `isExportable`, no script can read the private half. */
export async function makeKey(isExportable = false): Promise<{
  readonly privateKey: PrivateKey;
  readonly publicKey: DeviceKey['publicKey'];
}> {
  // Workers have one type for all algorithms and formats.
  const made = await crypto.subtle.generateKey(DEVICE_ALGORITHM, isExportable, ['sign', 'verify']);
  const pair = made as { readonly publicKey: PrivateKey; readonly privateKey: PrivateKey };
  const { x = '', y = '' } = Object(await crypto.subtle.exportKey('jwk', pair.publicKey));
  return { privateKey: pair.privateKey, publicKey: { kty: 'EC', crv: 'P-256', x, y } };
}

/**
 * Allows the question's proposal. Pass the question that the person was shown, not a newer one, and what the person
 * chose: the answer must hold the same.
 * @throws {ClientError} `UNKNOWN_PROPOSAL` if a part of the proposal is unknown to this version, so that no person was shown it.
 */
export async function signApproval(
  device: Device,
  question: ApprovalQuestion,
  choice: Choice = {},
): Promise<Signature> {
  refuseUnknown(question.proposal);
  return await signText(device, approvalText(question, grantOf(choice)));
}

/** Says yes, once, to opening a port of a process. */
export async function signPort(
  device: Device,
  opened: { readonly bridgeId: string; readonly processId: string; readonly port: number },
): Promise<NonNullable<PortRequest['grant']>> {
  const nonce = crypto.randomUUID();
  return { nonce, signature: await signText(device, portText({ ...opened, nonce })) };
}

async function signText(device: Device, text: string): Promise<Signature> {
  const { deviceId } = device;
  if ('sign' in device) {
    const { value, ...passkey } = await device.sign(text);
    return { deviceId, value, passkey };
  }
  const bytes = new TextEncoder().encode(text);
  const signature = await crypto.subtle.sign(DEVICE_ALGORITHM, await keyOf(device), bytes);
  return { deviceId, value: encodeBase64Url(new Uint8Array(signature)) };
}

function refuseUnknown(proposal: Proposal): void {
  const known = Object.hasOwn(PROPOSALS, proposal.kind) ? PROPOSALS[proposal.kind] : undefined;
  const unknown = known ? unknownIn(proposal, known) : 'kind';
  if (unknown === undefined) return;
  throw clientError(
    'UNKNOWN_PROPOSAL',
    `The proposal is of a later version, and not all of it is shown (${unknown}): update this program`,
  );
}

/** The name of a member, at any depth, that is not known. */
function unknownIn(value: unknown, known: Known): string | undefined {
  if (known === ANYTHING || typeof value !== 'object' || value === null) return undefined;
  const members: [string, unknown][] = Object.entries(value);
  for (const [name, member] of members) {
    if (member === undefined) continue; // It is not signed either.
    const inner = Array.isArray(value) ? known : known[name];
    const unknown = inner ? unknownIn(member, inner) : name;
    if (unknown !== undefined) return unknown;
  }
  return undefined;
}

/** The members of an object, or of each object in a list. A text, a number and their like have none. */
export type Known = typeof ANYTHING | { readonly [name: string]: Known };

const ANYTHING = 'anything';

/** `names` are words of one line: they would be a good part of a web page's script. */
function known(names: string, inner: Readonly<Record<string, Known>> = {}): Known {
  const plain = names.split(' ').map((name) => [name, {}] as const);
  return Object.assign(Object.create(null), Object.fromEntries(plain), inner);
}

/** What a proposal may consist of. */
export const PROPOSALS: Readonly<Record<Proposal['kind'], Known>> = {
  edit: known('kind tool path operation beforeHash afterHash', {
    diff: known('oldString newString startLine endLine'),
    cut: known('chars'),
  }),
  command: known('kind tool command folder permissions background timeLimitMs confinement'),
  call: known('kind tool', {
    arguments: ANYTHING,
    offer: known('server tool definition'),
  }),
  elicitation: known('kind tool server message number', {
    fields: known(
      'type name title description required default minLength maxLength format minimum maximum minItems maxItems',
      { options: known('value label') },
    ),
  }),
};

async function keyOf(device: StoredDevice | KeyedDevice): Promise<PrivateKey> {
  if ('privateKey' in device) return device.privateKey;
  return await crypto.subtle.importKey('jwk', device.privateJwk, DEVICE_ALGORITHM, false, ['sign']);
}

/**
 * Whether `newText` is the file that the proposal would leave, with or without a byte order mark. It comes unsigned: an
 * edge can send another file, for a person to change and sign unread. So check it before you show it to be changed.
 */
export async function isNewText(proposal: Proposal, newText: string): Promise<boolean> {
  if (proposal.kind !== 'edit') return false;
  const forms = [newText, `\uFEFF${newText}`].map(sha256);
  return (await Promise.all(forms)).some((hash) => hash === proposal.afterHash);
}

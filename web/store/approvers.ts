/** What this browser approves with: its own key, a passkey, or neither. */
import type { Device } from '../../client/index.ts';
import { arrive } from '../later.tsx';
import { APPROVERS, type Approver, type KeptDevice, readKept } from '../session/kept.ts';

/** Who signs an approval here. */
export interface Signer {
  readonly device: Device;
  readonly approver: Approver;
  /** Whether that bridge has taken it. Otherwise another one has, which may be of the same machine. */
  readonly isSure: boolean;
}

/** What a person runs at a machine to let this browser approve there: by a passkey, where the server is elsewhere. */
export const ENROL_COMMAND =
  location.protocol === 'https:' ? 'drawbridge open --passkey' : 'drawbridge open';

export type Approvers = Partial<Record<Approver, KeptDevice>>;

export async function readApprovers(): Promise<Approvers> {
  const [device, passkey] = await Promise.all(APPROVERS.map((approver) => readKept(approver)));
  // Browsers ask for a passkey only shortly after a click: a slow network must not come between.
  if (passkey) loadPasskeys().catch(() => undefined);
  return { ...(device && { device }), ...(passkey && { passkey }) };
}

/** Undefined if no machine has enrolled this browser. The browser's own key comes first: a passkey asks its person. */
export function signerFor(bridgeId: string, approvers: Approvers): Signer | undefined {
  const enrolled = APPROVERS.flatMap((approver) => {
    const kept = approvers[approver];
    if (!kept || kept.bridges.length === 0) return [];
    return { approver, device: deviceOf(kept), isSure: kept.bridges.includes(bridgeId) };
  });
  return enrolled.find(({ isSure }) => isSure) ?? enrolled[0];
}

function deviceOf({ device, enrolment: { deviceId, passkey } }: KeptDevice): Device {
  if (device) return device;
  const sign = async (text: string) => {
    const { signByPasskey } = await arrive(loadPasskeys());
    return (await signByPasskey(text, passkey?.credentialId)).signature;
  };
  return { deviceId, sign };
}

function loadPasskeys() {
  return import('../session/passkey.ts');
}

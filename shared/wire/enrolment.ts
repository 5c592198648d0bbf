/** Enrols a device by a one-use secret, which only the device and the machine of the bridge know. */
import * as z from 'zod';
import { ENROLMENT_LIMITS, REQUEST_LIMITS } from '../limits.ts';
import { named } from '../named.ts';
import { DeviceKey } from './approvals.ts';

const Coordinate = z.base64url().length(ENROLMENT_LIMITS.base64UrlChars);

/** `POST bridges/{id}/devices`. */
export const EnrolmentRequest = z.strictObject({
  device: DeviceKey.extend({
    label: z.string().max(REQUEST_LIMITS.maxNameChars),
    publicKey: DeviceKey.shape.publicKey.extend({ x: Coordinate, y: Coordinate }),
  }),
  /** HMAC-SHA-256 with the secret's characters as its key, over `enrolmentText` (approval-text.ts). */
  mac: z.base64url().length(ENROLMENT_LIMITS.base64UrlChars),
});
named.add(EnrolmentRequest, { id: 'EnrolmentRequest' });
export type EnrolmentRequest = z.infer<typeof EnrolmentRequest>;

/** `enrolled`: the device may approve. `ended`: no open secret made the MAC. `failed`: see the bridge's log. */
export const EnrolmentOutcome = z.enum(['enrolled', 'ended', 'failed']);
export type EnrolmentOutcome = z.infer<typeof EnrolmentOutcome>;

import { describe, expect, test } from 'vitest';
import { isSignedByPasskey } from '../../../shared/wire/assertion.ts';
import type { PasskeySignature } from '../../../shared/wire/passkey.ts';
import { eachOf } from '../../depth.ts';
import { type Deviation, newPasskey, PASSKEY_ORIGIN } from '../../far-ends/passkey.ts';

/** Every bit of a byte comes within eight of them. */
const BIT_STEP = eachOf(3, 29);

const TEXT = 'drawbridge-approval-v2\n{"command":"npm test"}';

type Passkey = Awaited<ReturnType<typeof newPasskey>>;

function check(signature: PasskeySignature, text: string, passkey: Passkey) {
  const key = { publicKey: passkey.key.publicKey, origin: PASSKEY_ORIGIN };
  return isSignedByPasskey(text, key, signature);
}

describe('a passkey’s signature', () => {
  test('counts for its text', async () => {
    const passkey = await newPasskey();
    expect(await check(await passkey.assert(TEXT), TEXT, passkey)).toBe(true);
  });

  test('counts neither for another text nor for another key', async () => {
    const passkey = await newPasskey();
    expect(await check(await passkey.assert(TEXT), `${TEXT} `, passkey)).toBe(false);
    expect(await check(await (await newPasskey()).assert(TEXT), TEXT, passkey)).toBe(false);
  });

  test.each<[string, Deviation]>([
    ['nobody was there', { flags: 0x1c }],
    ['its person was not recognised', { flags: 0x19 }],
    ['the authenticator signed for another host', { host: 'example.com' }],
    ['another page asked', { said: { origin: 'https://evil.example.com' } }],
    ['the page asked from within another one', { said: { crossOrigin: true } }],
    ['another page held it in a frame', { said: { topOrigin: 'https://evil.example.com' } }],
    ['it was made for a registration', { said: { type: 'webauthn.create' } }],
    ['its challenge is empty', { said: { challenge: '' } }],
    ['it has no challenge', { said: { challenge: undefined } }],
  ])('does not count if %s', async (_, deviation) => {
    const passkey = await newPasskey();
    expect(await check(await passkey.assert(TEXT, deviation), TEXT, passkey)).toBe(false);
  });

  test('does not count with any bit changed, cut short, or empty', async () => {
    const passkey = await newPasskey();
    const whole = await passkey.assert(TEXT);
    for (const name of ['authenticatorData', 'clientData', 'value'] as const) {
      const bytes = Buffer.from(whole[name], 'base64url');
      for (let bit = 0; bit < bytes.length * 8; bit += BIT_STEP) {
        const changed = Buffer.from(bytes);
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const signature = { ...whole, [name]: changed.toString('base64url') };
        expect(await check(signature, TEXT, passkey), `${name}, bit ${bit}`).toBe(false);
      }
      for (const text of ['', '!', bytes.subarray(0, -1).toString('base64url')]) {
        expect(await check({ ...whole, [name]: text }, TEXT, passkey), name).toBe(false);
      }
    }
  });
});

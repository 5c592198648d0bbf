import { runDurableObjectAlarm } from 'cloudflare:test';
import { afterEach, expect, it, vi } from 'vitest';
import { sessionTokens } from '../../../client/index.ts';
import { newBridgeId } from '../../../shared/ids.ts';
import { SESSION_LIMITS } from '../../../shared/limits.ts';
import { CLOSE } from '../../../shared/wire/tunnel.ts';
import { clientOf, SERVER, signIn } from '../people/people.ts';
import { connectBridge, requestBridge, tunnelOf } from './scripted-bridge.ts';

afterEach(() => void vi.useRealTimers());

async function connectSignedIn() {
  const account = `ana-${crypto.randomUUID()}`;
  const kept = await signIn(account);
  const bridgeId = newBridgeId(crypto.randomUUID());
  const token = await sessionTokens(SERVER, kept, bridgeId)(undefined, undefined);
  const bridge = await connectBridge({ account, bridgeId, token });
  return { account, kept, bridge, bridgeId, token };
}

it('the bridge of a session outlives its token by as many tokens as the session lives', async () => {
  const { account, bridgeId } = await connectSignedIn();
  for (let tokens = 1; tokens <= 3; tokens++) {
    vi.setSystemTime(Date.now() + SESSION_LIMITS.tokenMs + 1_000);
    await runDurableObjectAlarm(tunnelOf(bridgeId));
    expect(await tunnelOf(bridgeId).details(account)).not.toBeNull();
  }
  vi.useRealTimers();
  expect(await tunnelOf(bridgeId).status(account)).toMatchObject({ connected: true });
});

it('the bridge of a session is closed for good when the session is ended', async () => {
  const { account, kept, bridge, bridgeId, token } = await connectSignedIn();
  const client = await clientOf(account);
  await client.endSession(kept.session);
  expect(await bridge.next('goodbye')).toMatchObject({ code: 'SESSION_ENDED' });
  expect(await bridge.closed).toBe(CLOSE.sessionEnded);
  expect((await client.getBridge(bridgeId)).connected).toBe(false);
  const again = await requestBridge({ bridgeId, token });
  expect(await again.json()).toMatchObject({ error: { code: 'SESSION_ENDED' } });
});

it('the end of another session, or of another account, cuts no bridge', async () => {
  const [ana, ben] = [await connectSignedIn(), await connectSignedIn()];
  await tunnelOf(ana.bridgeId).endSession(ben.account, ana.kept.session, 'SESSION_ENDED');
  await tunnelOf(ana.bridgeId).endSession(ana.account, ben.kept.session, 'SESSION_ENDED');
  expect(await tunnelOf(ana.bridgeId).status(ana.account)).toMatchObject({ connected: true });
  expect(ana.bridge.frames.map(({ type }) => type)).not.toContain('goodbye');
});

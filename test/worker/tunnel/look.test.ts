import { expect, it, vi } from 'vitest';
import { TunnelStore } from '../../../worker/tunnel/statements.ts';
import {
  connectLookingBridge,
  contextOf,
  type ScriptedBridge,
  tunnelOf,
} from './scripted-bridge.ts';

it('a look gets what the bridge sees, and counts its rows', async () => {
  const bridge = await silentBridge();
  const looked = tunnelOf(bridge.bridgeId).look('ada');
  const { lookId } = await bridge.next('look');
  bridge.send({ type: 'context', lookId, context: contextOf('b.ts') });
  expect(await looked).toMatchObject({
    known: { context: contextOf('b.ts'), isConnected: true },
    rows: 1,
  });
});

it('a look writes nothing where the bridge sees the same as before', async () => {
  const bridge = await silentBridge();
  const saved = vi.spyOn(TunnelStore.prototype, 'saveBridge');
  const looked = tunnelOf(bridge.bridgeId).look('ada');
  const { lookId } = await bridge.next('look');
  bridge.send({ type: 'context', lookId, context: contextOf('a.ts') });
  expect(await looked).toMatchObject({ known: { context: contextOf('a.ts') }, rows: 0 });
  expect(saved).not.toHaveBeenCalled();
  saved.mockRestore();
});

it('a look returns the known state where the bridge is late, and the next one has the answer', async () => {
  const bridge = await silentBridge();
  expect(await tunnelOf(bridge.bridgeId).look('ada')).toMatchObject({
    known: { context: contextOf('a.ts'), isConnected: true },
    rows: 0,
  });
  const { lookId } = await bridge.next('look');
  bridge.send({ type: 'context', lookId, context: contextOf('late.ts') });
  await bridge.leave();
  expect(await tunnelOf(bridge.bridgeId).look('ada')).toMatchObject({
    known: { context: contextOf('late.ts'), isConnected: false },
  });
});

it('a look does not take the answer to another one', async () => {
  const bridge = await silentBridge();
  await tunnelOf(bridge.bridgeId).look('ada');
  const late = await bridge.next('look');
  const looked = tunnelOf(bridge.bridgeId).look('ada');
  const { lookId } = await bridge.next('look');
  bridge.send({ type: 'context', lookId: late.lookId, context: contextOf('late.ts') });
  bridge.send({ type: 'context', lookId, context: contextOf('new.ts') });
  expect(await looked).toMatchObject({ known: { context: contextOf('new.ts') } });
});

it('a look of another account returns nothing', async () => {
  const bridge = await silentBridge();
  expect(await tunnelOf(bridge.bridgeId).look('eve')).toBeNull();
  expect(bridge.frames).toEqual([]);
});

async function silentBridge(): Promise<ScriptedBridge> {
  const bridge = await connectLookingBridge('a.ts');
  bridge.sees = null;
  return bridge;
}

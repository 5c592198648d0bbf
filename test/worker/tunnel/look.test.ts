import { describe, expect, it, vi } from 'vitest';
import { TunnelStore } from '../../../worker/tunnel/statements.ts';
import {
  connectLookingBridge,
  contextOf,
  openBridge,
  type ScriptedBridge,
  tunnelOf,
} from './scripted-bridge.ts';

describe('a run that begins', () => {
  it('gets what the bridge sees then, and says how many rows that took', async () => {
    const bridge = await silentBridge();
    const looked = tunnelOf(bridge.bridgeId).look('ada');
    const { lookId } = await bridge.next('look');
    bridge.send({ type: 'context', lookId, context: contextOf('b.ts') });
    expect(await looked).toMatchObject({
      known: { context: contextOf('b.ts'), isConnected: true },
      rows: 1,
    });
  });

  it('writes nothing where the bridge sees what it saw before', async () => {
    const bridge = await silentBridge();
    const saved = vi.spyOn(TunnelStore.prototype, 'saveBridge');
    const looked = tunnelOf(bridge.bridgeId).look('ada');
    const { lookId } = await bridge.next('look');
    bridge.send({ type: 'context', lookId, context: contextOf('a.ts') });
    expect(await looked).toMatchObject({ known: { context: contextOf('a.ts') }, rows: 0 });
    expect(saved).not.toHaveBeenCalled();
    saved.mockRestore();
  });

  it('goes on with what was known where the bridge is late, whose answer the next has', async () => {
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

  it('is not answered by the look that another run asked for', async () => {
    const bridge = await silentBridge();
    await tunnelOf(bridge.bridgeId).look('ada');
    const late = await bridge.next('look');
    const looked = tunnelOf(bridge.bridgeId).look('ada');
    const { lookId } = await bridge.next('look');
    bridge.send({ type: 'context', lookId: late.lookId, context: contextOf('late.ts') });
    bridge.send({ type: 'context', lookId, context: contextOf('new.ts') });
    expect(await looked).toMatchObject({ known: { context: contextOf('new.ts') } });
  });

  it('asks nothing of a bridge that cannot look, and takes what that tells by itself', async () => {
    const bridge = await openBridge();
    bridge.hello({ context: contextOf('a.ts') });
    await bridge.next('welcome');
    bridge.send({ type: 'context', context: contextOf('told.ts') });
    await vi.waitFor(async () =>
      expect(await tunnelOf(bridge.bridgeId).look('ada')).toMatchObject({
        known: { context: contextOf('told.ts') },
      }),
    );
    expect(bridge.frames).toEqual([]);
  });

  it('of another account learns nothing', async () => {
    const bridge = await silentBridge();
    expect(await tunnelOf(bridge.bridgeId).look('eve')).toBeNull();
    expect(bridge.frames).toEqual([]);
  });
});

async function silentBridge(): Promise<ScriptedBridge> {
  const bridge = await connectLookingBridge('a.ts');
  bridge.sees = null;
  return bridge;
}

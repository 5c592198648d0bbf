import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runBridgeProcess } from '../../../local/bridge/process.ts';
import { LOCAL_LIMITS } from '../../../local/limits.ts';
import { openState } from '../../../local/state/state.ts';
import { FAKE_BRIDGE } from '../../cli/bundle.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test('a bridge that is refused once its token has expired gets a new one', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const workspaceDir = temporaryFolder();
  const state = await openState({ workspaceDir, stateDir: join(temporaryFolder(), 'state') });
  const seen: string[] = [];
  const bridge = {
    url: 'http://127.0.0.1:1',
    state,
    workspaceDir,
    command: [process.execPath, FAKE_BRIDGE] as const,
    environment: { FAKE_BRIDGE: 'refused', DRAWBRIDGE_PASS_ENV: 'FAKE_BRIDGE' },
    onStatus: ({ event }: { event: string }) => {
      if (seen.length === 0) vi.setSystemTime(Date.now() + LOCAL_LIMITS.ownBridgeTokenMs);
      seen.push(event);
    },
    onRestart: (death: string) => void seen.push(death),
  };
  const running = runBridgeProcess(bridge, new AbortController().signal);
  await expect(running).rejects.toThrow('The versions do not match.');
  expect(seen).toEqual(['refused', 'exit code 0', 'refused']);
});

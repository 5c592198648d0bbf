import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ClientError, Device } from '../../client/index.ts';
import { callDrawbridge } from '../cli/called.ts';
import { HAS_TERMINALS, openPseudoTerminal } from '../cli/pseudo-terminal.ts';
import { temporaryFolder } from '../local/temporary-folder.ts';
import { DRAWBRIDGE, type House, startHouse } from './house.ts';

/** Another machine of the same person: its key is in a state home of its own. */
function newMachine(): { readonly keyText: string; device(): Device } {
  const home = temporaryFolder();
  const env = { ...process.env, XDG_STATE_HOME: home };
  const keyText = execFileSync(DRAWBRIDGE, ['devices', 'show'], {
    env,
    cwd: temporaryFolder(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
  const path = join(home, 'drawbridge', 'server', 'device.json');
  const device = () => {
    const { deviceId, privateKey } = JSON.parse(readFileSync(path, 'utf8'));
    return { deviceId, privateJwk: privateKey };
  };
  return { keyText, device };
}

/** Has the demo model run a command, and answers its question once with the device's signature. */
async function approve(house: House, device: Device, file: string): Promise<number | undefined> {
  const message = { messages: [{ role: 'user' as const, content: `run touch ${file}` }] };
  let conversationId = '';
  for await (const { event } of house.client.streamChat(message)) {
    if (event.type === 'response_start') conversationId = event.response.conversationId;
    if (event.type !== 'approval_request') continue;
    return await house.client.allowCall({ ...event, conversationId }, device).then(
      () => 200,
      (error: ClientError) => error.status,
    );
  }
  throw new Error('nothing was asked');
}

it.runIf(HAS_TERMINALS)(
  'lets another machine approve once a person has enrolled its key, until it is revoked',
  async () => {
    const rules = [{ tool: 'run_terminal_cmd', pattern: '*', decision: 'ask' as const }];
    await using house = await startHouse({ rules });
    const place = ['--workspace', house.workspace, '--state', house.state];
    const devices = (...args: readonly string[]) => callDrawbridge(['devices', ...args, ...place]);
    const other = newMachine();
    expect(await approve(house, other.device(), 'before')).toBe(403);

    const command = [process.execPath, DRAWBRIDGE, 'devices', 'enrol', other.keyText, ...place];
    const terminal = openPseudoTerminal(command);
    await terminal.shows('y or n:');
    terminal.type('y\r');
    expect((await terminal.finished).code).toBe(0);
    expect(terminal.screen()).toMatch(/Fingerprint {2}(?:[0-9A-Z]{4}-){3}[0-9A-Z]{4}/);

    expect(await approve(house, other.device(), 'made.txt')).toBe(200);
    const made = () => existsSync(join(house.workspace, 'made.txt'));
    await expect.poll(made).toBe(true);
    const { deviceId } = other.device();
    const line = expect.stringMatching(new RegExp(`${deviceId}\\t.*\\t\\d{4}-\\S+\\t\\d{4}-`));
    await expect.poll(async () => (await devices('list')).stdout).toEqual(line);

    expect(await devices('revoke', deviceId)).toMatchObject({ code: 0 });
    expect((await devices()).stdout).not.toContain(deviceId);
    expect(await approve(house, other.device(), 'after')).toBe(403);
    expect(existsSync(join(house.workspace, 'before'))).toBe(false);
    expect(existsSync(join(house.workspace, 'after'))).toBe(false);
  },
);

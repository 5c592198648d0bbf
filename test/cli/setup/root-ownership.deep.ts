/** Root uses the state of a service, which runs as another user. */
import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { openState } from '../../../local/state/state.ts';
import { newPlace, runDrawbridge } from '../drawbridge.ts';

const OWNER = 1234;
const KEY = '{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}';

test.skipIf(process.getuid?.() !== 0)(
  'no command of root leaves a file or folder of root in the state of another user',
  async () => {
    const place = newPlace();
    const { workspaceDir, stateDir } = place;
    const here = ['--workspace', workspaceDir, '--state', stateDir];
    await openState(place);
    execFileSync('chown', ['-R', `${OWNER}:${OWNER}`, dirname(stateDir)]);
    const commands = [
      ['token'],
      ['token', '--scope', 'metrics'],
      ['status'],
      ['devices'],
      ['devices', 'enrol', KEY],
      ['mcp', 'add', 'demo', ...here, '--', 'true'],
      ['mcp'],
      ['quarantine'],
      ['worktrees'],
      ['doctor'],
      ['backup', join(dirname(stateDir), 'a.tar.gz')],
    ];
    for (const command of commands) {
      await runDrawbridge([...command, ...here]);
      expect([command.join(' '), ownedByRoot(stateDir)]).toEqual([command.join(' '), []]);
    }
    expect(readdirSync(stateDir)).toEqual(expect.arrayContaining(['metrics-token', 'mcp.json']));
  },
);

function ownedByRoot(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => lstatSync(join(folder, name)).uid === 0);
}

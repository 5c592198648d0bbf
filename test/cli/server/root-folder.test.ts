import { chmodSync, lstatSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { offerOtherOwner } from '../../../cli/server/root-folder.ts';
import { ownerCommand } from '../../../machine/ordinary-owner.ts';
import { temporaryFolder } from '../../local/temporary-folder.ts';
import { scriptTerminal } from '../scripted-terminal.ts';

const IS_ROOT = process.platform === 'linux' && process.getuid?.() === 0;

/** A folder of root's with a file and a link that leads out, below a folder that every user can enter. */
function newFolder() {
  const above = temporaryFolder();
  chmodSync(above, 0o755);
  const workspaceDir = join(above, 'work');
  mkdirSync(workspaceDir);
  writeFileSync(join(workspaceDir, 'file'), '');
  writeFileSync(join(above, 'outside'), '');
  symlinkSync('../outside', join(workspaceDir, 'link'));
  const uids = () => [
    statSync(workspaceDir).uid,
    statSync(join(workspaceDir, 'file')).uid,
    lstatSync(join(workspaceDir, 'link')).uid,
    statSync(join(above, 'outside')).uid,
  ];
  return { above, uids, place: { workspaceDir, projectDir: join(above, 'state') } };
}

describe.runIf(IS_ROOT)('root in a folder of its own', () => {
  test('is shown the command that gives the folder to a user, which runs after a yes', async () => {
    const { place, uids } = newFolder();
    const [program, ...args] = await ownerCommand(place.workspaceDir);
    const uid = Number(args[2]?.split(':')[0]);
    expect(uid).toBeGreaterThanOrEqual(1000);
    const refusing = scriptTerminal({ answers: ['n'] });
    expect(await offerOtherOwner(place, refusing)).toBe(true);
    expect(refusing.screen()).toContain(`\n  ${[program, ...args].join(' ')}\n`);
    expect(uids()).toEqual([0, 0, 0, 0]);
    await offerOtherOwner(place, scriptTerminal({ answers: [undefined] }));
    expect(uids()).toEqual([0, 0, 0, 0]);
    await offerOtherOwner(place, scriptTerminal({ answers: ['y'] }));
    expect(uids()).toEqual([uid, uid, uid, 0]);
  });

  test('reads why the owner was not changed, and the start goes on', async () => {
    const { place, uids } = newFolder();
    const terminal = scriptTerminal({ answers: ['y'] });
    const fail = () => Promise.reject(new Error('Command failed: chown\nRead-only file system'));
    expect(await offerOtherOwner(place, terminal, fail)).toBe(false);
    expect(terminal.screen()).toContain('The owner was not changed: ');
    expect(terminal.screen()).toContain('Read-only file system');
    expect(uids()).toEqual([0, 0, 0, 0]);
  });

  test.each<[string, (made: ReturnType<typeof newFolder>) => void]>([
    ['another user cannot reach it', ({ above }) => chmodSync(above, 0o700)],
    [
      'it was connected before',
      ({ place }) => {
        mkdirSync(place.projectDir);
        const bridgeId = 'bridge_00000000-0000-4000-8000-000000000000';
        writeFileSync(join(place.projectDir, 'bridge.json'), JSON.stringify({ bridgeId }));
      },
    ],
  ])('is asked nothing where %s', async (_, arrange) => {
    const made = newFolder();
    arrange(made);
    const terminal = scriptTerminal({ answers: ['y'] });
    await offerOtherOwner(made.place, terminal);
    expect([terminal.questions, made.uids()]).toEqual([[], [0, 0, 0, 0]]);
  });
});

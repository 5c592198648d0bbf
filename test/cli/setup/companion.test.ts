import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { CompanionHost } from '../../../packages/editors/guests/hosting.ts';
import { claimCompanion, writeRunning } from '../../../packages/editors/guests/setting.ts';
import { newPlace as newMachine } from '../../../packages/editors/test/companion/companions.ts';
import { callDrawbridge } from '../called.ts';
import { newPlace } from '../drawbridge.ts';

function newOwner() {
  const { workspaceDir, stateDir } = newPlace();
  return {
    workspaceDir,
    stateDir,
    run: (...words: string[]) =>
      callDrawbridge(['companion', ...words, '--workspace', workspaceDir, '--state', stateDir]),
  };
}

/** The part of a bridge that hosts its companion. */
function startHost(stateDir: string, root: string) {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const discovery = newMachine();
  const onDiff = async () => ({ decision: 'rejected' as const });
  const host = new CompanionHost({ stateDir, root, discovery, onDiff });
  onTestFinished(() => host.end());
  return host;
}

test('companion is turned on before a bridge runs, and off again', async () => {
  const { run, stateDir, workspaceDir } = newOwner();
  const status = await run();
  expect(status).toMatchObject({ code: 0, stderr: '' });
  expect(status.stdout).toMatch(/^The companion is off\. `.* companion on .*` turns it on\.\n$/);
  expect(status.stdout).toContain(` on --workspace ${workspaceDir} --state ${stateDir}\``);
  const refused = await run('env');
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('The companion is off: ');
  const waits = 'The companion is on. It starts with the bridge: none runs for this workspace.\n';
  expect(await run('on')).toEqual({ code: 0, stdout: waits, stderr: '' });
  expect(await run('status')).toEqual({ code: 0, stdout: waits, stderr: '' });
  const file = join(stateDir, 'companion.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ enabled: true });
  expect(statSync(file).mode & 0o077).toBe(0);
  expect((await run('env')).stderr).toContain('none runs for this workspace');
  expect(await run('off')).toMatchObject({ code: 0, stdout: 'The companion is off.\n' });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ enabled: false });
});

test('companion prints no variables once it is off, even before the bridge has followed', async () => {
  const { run, stateDir } = newOwner();
  await run('off');
  const claim = claimCompanion(stateDir);
  if (claim.isTaken) onTestFinished(() => claim[Symbol.dispose]());
  const startedAt = new Date().toISOString();
  const variables = { GEMINI_CLI_IDE_SERVER_PORT: '1' };
  writeRunning(stateDir, { port: 1, startedAt, variables, discoveryFiles: {}, problems: [] });
  expect(await run('env')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('The companion is off: '),
  });
});

test('companion says how a CLI connects to the bridge that runs, and prints the variables', async () => {
  const { run, stateDir, workspaceDir } = newOwner();
  mkdirSync(stateDir, { mode: 0o700 });
  await run('on');
  const root = join(workspaceDir, "it's here");
  const host = startHost(stateDir, root);
  const env = await vi.waitFor(async () => {
    const printed = await run('env');
    expect(printed).toMatchObject({ code: 0, stderr: '' });
    return printed.stdout;
  });
  const shown = execFileSync('sh', ['-c', `${env}\nenv`], { encoding: 'utf8', env: {} });
  expect(shown).toContain(`QWEN_CODE_IDE_WORKSPACE_PATH=${root}\n`);
  const [, port] = /GEMINI_CLI_IDE_SERVER_PORT=(\d+)\n/.exec(shown) ?? [];
  const [, token = ''] = /GEMINI_CLI_IDE_AUTH_TOKEN=(\S+)\n/.exec(shown) ?? [];
  const status = await run('on');
  expect(status.stdout).toContain(`The companion is on, at port ${port}. `);
  expect(status.stdout).toContain('/ide enable');
  expect(status.stdout).toContain('companion env');
  expect(status.stdout).not.toContain(token);
  await host.end();
  expect((await run()).stdout).toContain('none runs for this workspace');
});

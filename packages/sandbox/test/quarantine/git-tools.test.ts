import { chmodSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../../test/local/temporary-folder.ts';
import { findGitTools } from '../../quarantine/git-folder.ts';

it('the git that runs outside the sandbox is never one of another project on the path', async () => {
  const bin = join(realpathSync(temporaryFolder()), 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'git'), '#!/bin/sh\n');
  chmodSync(join(bin, 'git'), 0o755);
  vi.stubEnv('PATH', [bin, process.env['PATH'] ?? ''].join(delimiter));
  onTestFinished(() => void vi.unstubAllEnvs());
  const { git } = await findGitTools();
  expect(git).toMatch(/\/git$/);
  expect(git).not.toBe(join(bin, 'git'));
});

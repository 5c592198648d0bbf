import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readyText } from '../../cli/server/ready.ts';
import { temporaryFolder } from '../local/temporary-folder.ts';
import { runDrawbridge } from './drawbridge.ts';

const ODD = "a\nAPI        evil.test\u001b[2K'b";

test('a failure that quotes an odd name is one line, and shows all of it', async () => {
  const missing = join(temporaryFolder(), ODD);
  const { code, stderr } = await runDrawbridge(['token', '--workspace', missing]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^drawbridge: \P{Cc}+\n$/u)]);
  expect(stderr).toContain('a\\u{a}API        evil.test\\u{1b}[2K');
});

test('what up says when it is ready has no line and no escape from outside, and its commands hold in a shell', () => {
  const workspaceDir = join(temporaryFolder(), ODD);
  mkdirSync(workspaceDir, { recursive: true });
  const text = readyText(
    {
      url: 'http://127.0.0.1:1',
      token: 'token',
      bridgeId: 'bridge',
      confinement: { kind: 'none', detail: 'Why\nnot.\u001b[2K' },
      model: { name: 'm', text: 'm\nn at http://m/\u001b[2K' },
      workspaceDir,
      locationWords: ['--workspace', workspaceDir],
    },
    undefined,
  );
  expect(text).not.toContain('\u001b');
  expect(text.split('\n').filter((line) => line.includes('API'))).toHaveLength(5);
  const command = /^ {2}Token {6}(.*)$/m.exec(text)?.[1] ?? '';
  const { stdout } = spawnSync('bash', ['-c', command.replace(/^\S+/, 'printf "%s\\0"')]);
  expect(String(stdout).split('\0')).toContain(workspaceDir);
});

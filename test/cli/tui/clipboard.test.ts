import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { copySequence, readClipboardImage } from '../../../cli/tui/input/clipboard.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'drawbridge-clipboard-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  vi.stubEnv('PATH', join(folder, 'bin'));
});

function addProgram(name: string, script: string): void {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

describe.runIf(process.platform === 'linux')('an image in the clipboard', () => {
  it('is read by the first program that has one', async () => {
    addProgram('wl-paste', 'echo "there is no compositor" >&2; exit 1');
    addProgram('xclip', 'printf "picture of $4"');
    expect(await readClipboardImage(import.meta.dirname)).toEqual({
      state: 'read',
      bytes: Buffer.from('picture of image/png'),
    });
  });

  it('is missing where no program has one', async () => {
    addProgram('wl-paste', 'exit 1');
    expect(await readClipboardImage(import.meta.dirname)).toEqual({ state: 'empty' });
  });

  it('is not read without a program', async () => {
    expect(await readClipboardImage(import.meta.dirname)).toEqual({ state: 'no program' });
  });

  it('is never read by a program in the workspace, where the agent can write', async () => {
    addProgram('wl-paste', 'printf picture');
    expect(await readClipboardImage(folder)).toEqual({ state: 'no program' });
  });
});

it('asks the terminal to take text into its clipboard', () => {
  expect(copySequence('Grüße')).toBe('\x1b]52;c;R3LDvMOfZQ==\x07');
});

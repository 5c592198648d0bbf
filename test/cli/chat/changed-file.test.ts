import { rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { askForChangedFile } from '../../../cli/chat/lines.ts';
import { REQUEST_LIMITS } from '../../../shared/limits.ts';
import { scriptTerminal } from '../scripted-terminal.ts';

it.each(['..', 'src/..', '', 'a/b\0.ts', `${'n'.repeat(5000)}.ts`, 'C:\\con\n'])(
  'any path can be changed: %j',
  async (path) => {
    expect(await changed({ path, text: 'new\n' }, [''])).toEqual({ content: 'new\n', screen: [] });
  },
);

it.each<[string, (file: string) => void, string]>([
  ['is gone', (file) => rmSync(file), 'It cannot be read: save it there.'],
  [
    'has lost its folder',
    (file) => rmSync(dirname(file), { recursive: true }),
    'It cannot be read: save it there.',
  ],
  [
    'is not UTF-8',
    (file) => writeFileSync(file, Buffer.from('gr\u00fcn', 'latin1')),
    'It is not UTF-8: save it as UTF-8.',
  ],
  [
    'is too large',
    (file) => writeFileSync(file, 'x'.repeat(REQUEST_LIMITS.maxAmendedChars + 1)),
    `It may have at most ${REQUEST_LIMITS.maxAmendedChars} characters.`,
  ],
])('a saved file that %s is asked for again', async (_, spoil, why) => {
  const proposed = { path: 'src/a.ts', text: 'new\n' };
  const { content, screen } = await changed(proposed, ['', 'n'], spoil);
  expect(content).toBeUndefined();
  expect(screen).toEqual([why]);
});

/** What is signed, and what the person reads beside the file's place. `meanwhile` happens before the first answer. */
async function changed(
  proposed: { path: string; text: string },
  answers: readonly string[],
  meanwhile: (file: string) => void = () => {},
) {
  const terminal = scriptTerminal({ answers });
  const write = (text: string) => {
    terminal.write(text);
    const [, file] = /save this file: (\S+)\n$/.exec(text) ?? [];
    if (file) meanwhile(file);
  };
  const { signal } = new AbortController();
  const content = await askForChangedFile({ ...terminal, write }, proposed, signal);
  return { content, screen: terminal.screen().split('\n').slice(1, -1) };
}

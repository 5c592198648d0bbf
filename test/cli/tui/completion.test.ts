import { Editor, TuiMainScreen } from '@earendil-works/pi-tui';
import { expect, it, onTestFinished } from 'vitest';
import { plain } from '../../../cli/terminal/paint.ts';
import { type CompletionSources, newCompletion } from '../../../cli/tui/input/completion.ts';
import { editorTheme } from '../../../cli/tui/theme.ts';
import type { FoundFile } from '../../../client/index.ts';
import { newDeferred } from '../../../machine/deferred.ts';
import { openVirtualTerminal } from './virtual-terminal.ts';

const FILES: readonly FoundFile[] = [
  { path: 'src/a.ts', type: 'file' },
  { path: 'my docs/', type: 'folder' },
  { path: '.cursor/rules/style.mdc', type: 'rule' },
];

it('offers files, folders and rules, and writes the mention of the chosen one', async () => {
  const { terminal, editor } = openEditor({ findFiles: async () => FILES });
  type(terminal, 'see @s');
  await expect.poll(() => terminal.screen()).toContain('→ src/a.ts');
  const screen = await terminal.screen();
  expect(screen).toMatch(/my docs\/ +folder/);
  expect(screen).toMatch(/style\.mdc +rule/);
  terminal.type('\r');
  type(terminal, 'now');
  expect(editor.getText()).toBe('see @src/a.ts now');
});

it('offers nothing for the whole mention of a file: Enter and Tab are for the message', async () => {
  const { terminal, completion } = openEditor({ findFiles: async () => FILES });
  type(terminal, 'see @src/a');
  await expect.poll(() => terminal.screen()).toContain('→ src/a.ts');
  type(terminal, '.ts');
  await expect.poll(() => terminal.screen()).not.toContain('→ src/a.ts');
  expect(completion.isComplete('see @src/a.ts')).toBe(true);
  expect(completion.isComplete('see @src/a.t')).toBe(false);
  expect(completion.isComplete('see @src/a.ts now')).toBe(false);
  expect(completion.shouldTriggerFileCompletion?.(['see @src/a.ts'], 0, 13)).toBe(false);
});

it('quotes the name that needs it', async () => {
  const { terminal, editor } = openEditor({ findFiles: async () => FILES.slice(1) });
  type(terminal, '@"my d');
  await expect.poll(() => terminal.screen()).toContain('→ my docs/');
  terminal.type('\t');
  expect(editor.getText()).toBe('@"my docs/" ');
});

it('makes the names of files harmless, and leaves out those that a line cannot hold', async () => {
  const files: FoundFile[] = ['b\x1b[2Jad.txt', 'quo"te', 'two\nlines'].map((path) => ({
    path,
    type: 'file',
  }));
  const { terminal } = openEditor({ findFiles: async () => files });
  type(terminal, '@b');
  await expect.poll(() => terminal.screen()).toContain(String.raw`→ "b\u001b[2Jad.txt"`);
  expect(await terminal.screen()).not.toContain('lines');
});

it('aborts a request that more typing has outdated', async () => {
  const asked: { query: string; signal: AbortSignal }[] = [];
  const first = newDeferred<readonly FoundFile[]>();
  const { terminal } = openEditor({
    findFiles: (query, signal) => {
      asked.push({ query, signal });
      signal.addEventListener('abort', () => first.reject(signal.reason));
      return asked.length === 1 ? first.promise : Promise.resolve(FILES.slice(0, 1));
    },
  });
  type(terminal, '@s');
  await expect.poll(() => asked.length).toBe(1);
  type(terminal, 'r');
  await expect.poll(() => terminal.screen()).toContain('→ src/a.ts');
  expect(asked.map(({ query, signal }) => [query, signal.aborted])).toEqual([
    ['s', true],
    ['sr', false],
  ]);
});

it('offers nothing for an address of e-mail, or behind #', async () => {
  const asked: string[] = [];
  const { terminal } = openEditor({
    findFiles: async (query) => {
      asked.push(query);
      return FILES;
    },
  });
  type(terminal, 'ada@s #s @');
  await expect.poll(() => terminal.screen()).toContain('→ src/a.ts');
  expect(asked).toEqual(['']);
});

it('offers no argument that is written already: Enter runs the command', async () => {
  const { terminal, submitted } = openEditor({
    commands: [
      {
        name: 'mode',
        help: 'Choose',
        takes: 'NAME',
        complete: async (prefix) =>
          ['ask', 'agent']
            .filter((name) => name.startsWith(prefix))
            .map((name) => ({ value: name, label: name })),
      },
    ],
  });
  type(terminal, '/mode a');
  await expect.poll(() => terminal.screen()).toContain('→ ask');
  type(terminal, 'sk');
  await expect.poll(() => terminal.screen()).not.toContain('→');
  terminal.type('\r');
  expect(submitted).toEqual(['/mode ask']);
});

it('offers the skills of the machine behind the commands', async () => {
  const { terminal, submitted } = openEditor({
    commands: [{ name: 'release', help: 'Own' }],
    skills: () => [{ name: 'review', help: 'Reviews', takes: 'FILE' }],
  });
  type(terminal, '/re');
  await expect.poll(() => terminal.screen()).toMatch(/review FILE +Reviews/);
  type(terminal, 'v');
  await expect.poll(() => terminal.screen()).not.toContain('release');
  terminal.type('\t');
  type(terminal, 'a.ts');
  terminal.type('\r');
  expect(submitted).toEqual(['/review a.ts']);
});

function openEditor(sources: Partial<CompletionSources>) {
  const terminal = openVirtualTerminal();
  const tui = new TuiMainScreen(terminal);
  const editor = new Editor(tui, editorTheme(plain));
  const submitted: string[] = [];
  editor.onSubmit = (text) => void submitted.push(text);
  const completion = newCompletion({
    findFiles: async () => [],
    commands: [],
    skills: () => [],
    ...sources,
  });
  editor.setAutocompleteProvider(completion);
  tui.addChild(editor);
  tui.setFocus(editor);
  tui.start();
  onTestFinished(() => tui.stop());
  return { terminal, editor, completion, submitted };
}

function type({ type: press }: { type(data: string): void }, text: string): void {
  for (const character of text) press(character);
}

/** Edits that are formatted by small programs. What runs in the sandbox is in formatters.deep.ts. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MINUTE } from '../../../../shared/units.ts';
import { FileEditMetadata } from '../../../../shared/wire/documents.ts';
import {
  carryOut,
  temporaryFolder,
  temporaryWorkspace,
  toolsWith,
} from '../../../../test/bridge/tools/temporary-workspace.ts';
import type { Proposed } from '../../../host/tool.ts';
import { type Confinement, unconfined } from '../../../sandbox/launch/confinement.ts';
import { Formatters } from '../../formatting/formatters.ts';
import { formattingShape } from '../../formatting/shape.ts';

const UPPER = ['tr', 'a-z', 'A-Z'];

it.each([
  [
    'str_replace',
    { file_path: 'a.ts', old_string: 'two', new_string: 'three' },
    ' Replaced at line 2.',
  ],
  ['edit_file', { target_file: 'a.ts', code_edit: 'one\nthree\n' }, ''],
  ['write', { path: 'a.ts', contents: 'one\nthree\n' }, ''],
])(
  'what %s proposes is formatted, and the model reads its edit and what differs from it',
  async (tool, args, note) => {
    const place = await formattedWorkspace(UPPER);
    await place.call('read_file', { target_file: 'a.ts' });
    const result = await place.call(tool, args);
    expect(result.data).toBe(
      `Edited a.ts (2 lines before, 2 now).${note}\n@@ line 2 @@\n-two\n+three\n` +
        'tr formatted your edit before it was written. From your edit (-) to the file (+):\n' +
        '@@ line 1 @@\n-one\n-three\n+ONE\n+THREE',
    );
    expect(await place.text('a.ts')).toBe('ONE\nTHREE\n');
    const metadata = FileEditMetadata.parse(result.metadata);
    expect(metadata).toMatchObject({ formatted_by: 'tr', diff: { newString: 'ONE\nTHREE' } });
  },
);

it('a person is asked about the formatted text, and again about the same when it is proposed again', async () => {
  const place = await formattedWorkspace(['sh', '-c', 'cat; date +%N']);
  const propose = () => place.propose('write', { path: 'new.ts', contents: 'one\n' });
  const [first, again] = [await propose(), await propose()];
  expect(JSON.stringify(first.proposal)).toMatch(/one.*\d{9}/);
  expect(again.proposal).toEqual(first.proposal);
  const other = await place.propose('write', { path: 'new.ts', contents: 'one\n' }, 'call_other');
  expect(other.proposal).not.toEqual(first.proposal);
});

it('a person’s change is shown from the formatted edit', async () => {
  const place = await formattedWorkspace(UPPER);
  const { edited } = await place.propose('write', { path: 'new.ts', contents: 'one\ntwo\n' });
  const { result } = Object((await edited?.amend('ONE\nthree\n'))?.change);
  expect(result.data).toBe(
    'Created new.ts (2 lines). The person changed your edit before allowing it. From the formatted edit (-) to the file (+):\n' +
      '@@ line 2 @@\n-TWO\n+three',
  );
});

it('what a device sends back unchanged has the result of the formatted edit', async () => {
  const place = await formattedWorkspace(UPPER);
  const { edited, change } = await place.propose('write', { path: 'new.ts', contents: 'one\n' });
  expect(change?.result.metadata).toMatchObject({ formatted_by: 'tr' });
  expect((await edited?.amend('ONE\n'))?.change).toEqual(change);
});

it('a text that is formatted already is written without a word about it', async () => {
  const place = await formattedWorkspace(['cat']);
  const { data, metadata } = await place.call('write', { path: 'b.ts', contents: 'b\n' });
  expect(data).toBe('Created b.ts (1 line).');
  expect(metadata).toMatchObject({ formatted_by: 'cat' });
});

it('the byte order mark of a file stays, whatever a formatter prints', async () => {
  const place = await formattedWorkspace(['sh', '-c', "printf '\\357\\273\\277'; tr a-z A-Z"]);
  await place.put('a.ts', '\uFEFFone\n');
  await place.call('str_replace', { file_path: 'a.ts', old_string: 'one', new_string: 'two' });
  expect(await place.text('a.ts')).toBe('\uFEFFTWO\n');
});

it.each([
  [['sh', '-c', 'cat; exit 3'], 'sh: it ended with exit code 3'],
  [['true'], 'true: it printed nothing'],
  [['sh', '-c', "printf 'a\\0b'"], 'sh: its output is not text'],
  [['sh', '-c', "printf '\\377'"], 'sh: its output is not text'],
  [['yes'], 'yes: it printed too much'],
  [['no-such-program'], 'no-such-program: it ended with exit code 127'],
])('an edit goes on unformatted, with the reason: %j', async (command, reason) => {
  const place = await formattedWorkspace(command);
  const result = await place.call('write', { path: 'new.ts', contents: 'one\n' });
  expect(result).toMatchObject({
    status: 'success',
    data: expect.stringContaining(`Created new.ts (1 line).\nNot formatted: ${reason}`),
    metadata: { not_formatted: expect.stringContaining(reason) },
  });
  expect(await place.text('new.ts')).toBe('one\n');
});

it('without a sandbox no formatter runs, and the result says so', async () => {
  const place = await formattedWorkspace(UPPER, { kind: 'none' });
  const { data } = await place.call('write', { path: 'new.ts', contents: 'one\n' });
  expect(data).toContain('Not formatted: tr: it runs only in the sandbox, and there is none');
  expect(await place.text('new.ts')).toBe('one\n');
});

it('no formatter runs in a folder that the editor does not trust', async () => {
  const place = await formattedWorkspace(UPPER, { isDistrusted: true });
  const { data } = await place.call('write', { path: 'new.ts', contents: 'one\n' });
  expect(data).toContain('Not formatted: tr: the editor does not trust this folder');
});

it('a notebook and another file are written as they are', async () => {
  const place = await formattedWorkspace(UPPER);
  const { data } = await place.call('write', { path: 'new.js', contents: 'one\n' });
  expect(data).toBe('Created new.js (1 line).');
});

it('an edit that the formatter takes back says that nothing changed', async () => {
  const place = await formattedWorkspace(['sh', '-c', 'printf "one\\ntwo\\n"']);
  const args = { file_path: 'a.ts', old_string: 'two', new_string: 'two ' };
  const { data } = await place.call('str_replace', args);
  expect(data).toContain('a.ts already has exactly this content.\nsh formatted your edit');
});

interface Options {
  readonly kind?: Confinement['kind'];
  readonly isDistrusted?: boolean;
}

/** A workspace with the file `a.ts` and a formatter for `.ts`, which a stand-in for the sandbox starts. */
async function formattedWorkspace(
  command: readonly string[],
  { kind = 'bubblewrap', isDistrusted = false }: Options = {},
) {
  const place = await temporaryWorkspace({ 'a.ts': 'one\ntwo\n' });
  const { root } = place;
  const stateDir = await temporaryFolder();
  const list = { formatters: [{ files: ['.ts'], command }] };
  await writeFile(join(stateDir, 'formatters.json'), JSON.stringify(list));
  const { env: environment } = process;
  const surroundings = { workspace: root, home: root, closedFolders: [], maskFolder: stateDir };
  const confinement = { ...unconfined({ ...surroundings, environment }, 'a test'), kind };
  const at = { root, confinement, stateDir, isDistrusted: () => isDistrusted };
  const tools = toolsWith([], [formattingShape(new Formatters(at, MINUTE))]);
  const toolOf = (name: string) => {
    const tool = tools.get(name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return tool;
  };
  return {
    ...place,
    call: (tool: string, args: Record<string, unknown>) =>
      carryOut(toolOf(tool), args, place.context),
    propose: async (
      name: string,
      args: Record<string, unknown>,
      callId = 'call_test',
    ): Promise<Proposed> => {
      const { paths, propose } = toolOf(name).read(args, 'conv_test');
      const target = await place.context.workspace.resolve(paths[0] ?? '.', 'write');
      return await propose({ ...place.context, callId, isReviewed: true, places: [target] });
    },
  };
}

/** Real language servers in the sandbox check edits that are on no disk, and can write nothing. */
import { expect, it } from 'vitest';
import { freshWorkspace, NO_BUBBLEWRAP } from '../../sandbox/test/sandboxed-workspace.ts';
import { run } from '../../sandbox/test/terminal/plain-launch.ts';
import { lintedWorkspace, STRICT_PROJECT } from './linted-workspace.ts';

const CASES = [
  ['typescript', 'a.ts', 'export const n: number = 1;\n', '= 1', "= 'x'", /not assignable/],
  ['pyright', 'a.py', 'n: int = 1\n', '= 1', "= 'x'", /not assignable/],
  ['json', 'a.json', '{"a": 1}\n', '1', '1,,', /expected/i],
  ['css', 'a.css', 'a { color: red; }\n', 'red; }', 'red;', /expected/i],
  ['html', 'a.html', '<script>f(1);</script>\n', '(1', '(1,,', /expected/i],
] as const;

it.skipIf(NO_BUBBLEWRAP).each(CASES)(
  '%s checks an edit before it is written',
  async (_, name, text, old, fresh, message) => {
    const place = await lintedWorkspace({ [name]: text });
    expect((await place.warm(name)).data).toContain(`${name}: no errors or warnings (`);
    const refused = await place.replace(name, old, fresh);
    expect(refused).toMatchObject({ code: 'NEW_ERRORS', data: expect.stringMatching(message) });
    expect(await place.text(`workspace/${name}`)).toBe(text);
    const made = await place.replace(name, text.trimEnd(), `${text}${text}`.trimEnd());
    expect(made.metadata).toMatchObject({ checked_by: expect.any(String) });
  },
);

it.skipIf(NO_BUBBLEWRAP).each([
  [
    'a.ts',
    "import { b } from './lib/b';\nexport const a: number = b;\n",
    'lib/b.ts',
    'export const b = 1;\n',
  ],
  ['a.py', 'from lib.b import b\n\na: int = b\n', 'lib/b.py', 'b = 1\n'],
])(
  'an edit reports the errors that it makes in %s, which imports its file',
  async (name, text, lib, old) => {
    const place = await lintedWorkspace({
      ...STRICT_PROJECT,
      [name]: text,
      [lib]: old,
    });
    await place.warm(lib);
    const made = await place.replace(lib, '1', "'text'");
    expect(made).toMatchObject({
      status: 'success',
      data: expect.stringContaining(`${name}:`),
      metadata: {
        linter_errors: [{ path: name, message: expect.stringMatching(/not assignable/) }],
      },
    });
    // The errors are there now, so another edit adds none.
    const { metadata } = await place.replace(lib, "'text'", "'texts'");
    expect(metadata?.['linter_errors']).toBeUndefined();
    expect(metadata).toHaveProperty('checked_by');
    expect((await place.warm(name)).data).toContain('not assignable');
  },
);

it.skipIf(NO_BUBBLEWRAP)('JSON may have comments where programs take them', async () => {
  const place = await lintedWorkspace({
    'tsconfig.json': '{"files": []}\n',
    'a.json': '{"a": 1}\n',
  });
  await place.warm('a.json');
  const comment = '// why\n{"';
  expect(await place.replace('tsconfig.json', '{"', comment)).toMatchObject({ status: 'success' });
  expect(await place.replace('a.json', '{"', comment)).toMatchObject({ code: 'NEW_ERRORS' });
});

it.skipIf(NO_BUBBLEWRAP)('TypeScript sees files that came, changed and went since', async () => {
  const place = await lintedWorkspace({
    ...STRICT_PROJECT,
    'a.ts': "import { b } from './b';\nexport const a: number = b;\n",
  });
  const lints = async () => (await place.warm('a.ts')).data;
  expect(await lints()).toContain('2307');
  await place.put('workspace/b.ts', 'export const b = 1;\n');
  expect(await lints()).not.toContain('2307');
  await place.put('workspace/b.ts', "export const b = 'text';\n");
  expect(await lints()).toContain('not assignable');
  await place.replace('b.ts', "'text'", '2');
  expect(await lints()).not.toContain('not assignable');
});

it.skipIf(NO_BUBBLEWRAP).each([false, true])(
  'a server can write nothing of the workspace (%s)',
  async (isHeld) => {
    const place = await freshWorkspace({ isHeld });
    const request = {
      command:
        'echo x > made; echo x >> readme; mkdir made2; cat readme; echo x > /tmp/own && cat /tmp/own',
      cwd: place.path('workspace'),
      permissions: [],
      isReadOnly: true,
    };
    const { output } = await place.confinement.start(request, ({ launch }) => run(launch));
    expect(output.match(/Read-only file system/g)).toHaveLength(3);
    expect(output.endsWith('x\n')).toBe(true);
    expect(await place.text('workspace/made')).toBeUndefined();
  },
);

it.skipIf(NO_BUBBLEWRAP)(
  'an owner turns servers off, adds one, and learns of a mistake',
  async () => {
    const place = await lintedWorkspace({ 'a.json': '{}\n', 'a.own': 'x\n' });
    const node = await place.node();
    const choose = (list: unknown) =>
      place.put('instances/state/language-servers.json', JSON.stringify(list));
    await choose({ servers: { json: false } });
    expect((await place.warm('a.json')).data).toContain('no language server is for such files');
    await choose({
      servers: {
        own: { command: node, args: ['-e', 'process.exit(4)'], files: { '.own': 'own' } },
      },
    });
    expect((await place.warm('a.own')).data).toContain('own: it ended with exit code 4');
    await choose({ servers: { own: {} } });
    expect((await place.warm('a.json')).data).toContain(
      'language-servers.json in the state folder is not right',
    );
    await choose({ enabled: false });
    expect((await place.warm('a.json')).data).toContain('turned it off');
  },
);

it.skipIf(NO_BUBBLEWRAP)('a warm TypeScript checks edits while they wait', async () => {
  const files = Array.from({ length: 300 }, (_, at) => [
    `src/f${at}.ts`,
    `import { v${(at + 1) % 300} } from './f${(at + 1) % 300}';\nexport const v${at}: number = ${at};\nexport const w = v${(at + 1) % 300};\n`,
  ]);
  const place = await lintedWorkspace(Object.fromEntries(files));
  await place.warm('src/f0.ts');
  const edit = async (at: number, call: typeof place.call) => {
    const [old_string, new_string] = [`number = ${at};`, `number = ${at}0;`];
    const begun = performance.now();
    const result = await call('str_replace', {
      file_path: `src/f${at}.ts`,
      old_string,
      new_string,
    });
    return { result, tookMs: performance.now() - begun };
  };
  const checked: number[] = [];
  const plain: number[] = [];
  for (let at = 0; at < 100; at++) {
    const { result, tookMs } = await edit(at, at % 2 === 0 ? place.call : place.callUnchecked);
    if (at % 2 === 1) plain.push(tookMs);
    else if (result.metadata && 'checked_by' in result.metadata) checked.push(tookMs);
  }
  const of = (times: number[], share: number) =>
    times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? 0;
  const [p50, p95] = [0.5, 0.95].map((share) => of(checked, share) - of(plain, share));
  console.log(`a check adds ${p50?.toFixed(0)} ms (p50), ${p95?.toFixed(0)} ms (p95)`);
  // An edit does not wait for a check that is late, which on a busy machine many are.
  expect(checked.length).toBeGreaterThan(0);
});

import {
  existsSync,
  lstatSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configSchemaText, dottedFields } from '../../../local/config/json-schema.ts';
import { SAMPLE_TAPE } from '../../client/sample-tape.ts';
import { startScriptedApi } from '../../client/scripted-api.ts';
import { newConfig } from '../../local/config/config-folder.ts';
import { temporaryFolder } from '../../local/temporary-folder.ts';
import { DRAWBRIDGE } from '../bundle.ts';
import { callDrawbridge } from '../called.ts';
import { newPlace, startReady, upArguments } from '../drawbridge.ts';
import { HAS_TERMINALS, openPseudoTerminal } from '../pseudo-terminal.ts';

const done = { code: 0, stdout: '', stderr: '' };
const refused = (why: RegExp) => ({ code: 2, stdout: '', stderr: expect.stringMatching(why) });

function newOwner(config?: unknown, more: NodeJS.ProcessEnv = {}) {
  const { env, path, folder } = newConfig(config);
  return {
    env: { ...env, ...more },
    path,
    folder,
    run: (...args: string[]) => callDrawbridge(['config', ...args], { env: { ...env, ...more } }),
    read: () => readFileSync(path, 'utf8'),
  };
}

test('config sets, gets and removes settings, and links the schema', async () => {
  const { run, path, read, folder } = newOwner();
  expect(await run('path')).toEqual({ ...done, stdout: `${path}\n` });
  expect(await run('set', 'baseUrl', 'http://127.0.0.1:11434/v1')).toEqual(done);
  expect(await run('set', 'model', '5')).toEqual(done);
  expect(await run('set', 'server.port', '9000')).toEqual(done);
  expect(await run('set', 'key', '{"command": ["pass", "show", "x"]}')).toEqual(done);
  expect(JSON.parse(read())).toEqual({
    $schema: './config.schema.json',
    baseUrl: 'http://127.0.0.1:11434/v1',
    model: '5',
    server: { port: 9000 },
    key: { command: ['pass', 'show', 'x'] },
  });
  expect(readFileSync(join(folder, 'config.schema.json'), 'utf8')).toBe(configSchemaText());
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(await run('get', 'model')).toEqual({ ...done, stdout: '5\n' });
  expect(await run('get', 'key.command.0')).toEqual({ ...done, stdout: 'pass\n' });
  expect((await run('get', '--origin')).stdout).toBe(
    [
      `model = 5  (file: ${path})`,
      `baseUrl = http://127.0.0.1:11434/v1  (file: ${path})`,
      `key = {"command":["pass","show","x"]}  (file: ${path})`,
      'mode = agent  (default)',
      'preset = workspace  (default)',
      `server.port = 9000  (file: ${path})`,
      'codeInPrompt = ["agent","plan","ask"]  (default)',
      'devicesMayAllowAlways = false  (default)',
      'devicesNeedPasskey = false  (default)\n',
    ].join('\n'),
  );
  expect(await run('unset', 'server.port')).toEqual(done);
  expect(await run('get', 'server')).toEqual({ ...done, stdout: 'server.port = 8787\n' });
  expect(await run('unset', 'server.port')).toMatchObject({ code: 1 });
  expect(await run('get', 'models')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('models is not set'),
  });
});

test('config set and unset refuse what a list has no place for', async () => {
  const models = [{ id: 'a' }, { id: 'b' }];
  const { run, read } = newOwner({ models });
  const before = read();
  for (const key of ['models.foo', 'models.length', 'models.-1', 'models.1x']) {
    expect(await run('set', key, '1')).toEqual(refused(/models is a list: .* such as models\.0/));
    expect(await run('unset', key)).toEqual(refused(/models is a list/));
    expect(await run('get', key)).toEqual(refused(/models is a list/));
  }
  for (const key of ['models.3.id', 'models[99999999].id', 'models.5']) {
    expect(await run('set', key, 'c')).toEqual(refused(/models has 2 entries: .* models\.2/));
  }
  expect(read()).toBe(before);
  expect(await run('set', 'models.2.id', 'c')).toEqual(done);
  expect(JSON.parse(read()).models).toEqual([...models, { id: 'c' }]);
});

test('config set writes into a list that is not there yet', async () => {
  const { run, read } = newOwner();
  expect(await run('set', 'models.foo', '1')).toEqual(refused(/models is a list/));
  expect(await run('set', 'models.0.id', 'a')).toEqual(done);
  expect(JSON.parse(read())).toMatchObject({ models: [{ id: 'a' }] });
});

test('config set keeps order, indentation, a foreign schema and a link to the file', async () => {
  const { run, path, read } = newOwner(
    '{\n\t"mode": "plan",\n\t"$schema": "https://a.test/s.json",\n\t"model": "a"\n}',
  );
  const real = join(temporaryFolder(), 'real.json');
  renameSync(path, real);
  symlinkSync(real, path);
  expect(await run('set', 'model', 'b')).toEqual(done);
  expect(read()).toBe(
    '{\n\t"mode": "plan",\n\t"$schema": "https://a.test/s.json",\n\t"model": "b"\n}\n',
  );
  expect(lstatSync(path).isSymbolicLink()).toBe(true);
});

describe('config refuses', () => {
  test.each([
    [['set', 'mdoe', 'ask'], /mdoe: there is no such setting\. Did you mean mode\?/],
    [
      ['get', 'server.prot'],
      /server\.prot: there is no such setting\. Did you mean server\.port\?/,
    ],
    [['set', 'key', 'sk-1234'], /key: a key is never written into this file/],
    [['set', 'server.port', 'http'], /server\.port: must be a number/],
    [['set', 'updateHint', 'maybe'], /updateHint: .*boolean/],
    [['unset', 'models.0.key'], /models\[0\]\.key: must say where the key of Anthropic/],
  ])('%j, and changes nothing', async (args, why) => {
    const { run, read } = newOwner({
      models: [{ id: 'a', dialect: 'anthropic', key: { env: 'A' } }],
    });
    const before = read();
    const end = await run(...args);
    expect(end).toEqual(refused(why));
    expect(end.stderr).not.toContain('sk-1234');
    expect(read()).toBe(before);
  });

  test('to change a file that is broken', async () => {
    const { run, read } = newOwner('{"model": }');
    expect(await run('set', 'model', 'a')).toEqual(
      refused(/config\.json, line 1, column 11: a value must/),
    );
    expect(read()).toBe('{"model": }');
  });
});

/** The command of an editor that writes the text. */
function editorThatWrites(text: string): string {
  const file = join(temporaryFolder(), 'my editor');
  writeFileSync(file, `#!/bin/sh\ncat > "$2" <<'END'\n${text}\nEND\n`, {
    mode: 0o755,
  });
  return `'${file}' --wait`;
}

describe('config edit', () => {
  test('saves what is right', async () => {
    const { run, read, folder } = newOwner({}, { VISUAL: editorThatWrites('{"mode": "ask"}') });
    expect(await run('edit')).toEqual(done);
    expect(JSON.parse(read())).toEqual({ $schema: './config.schema.json', mode: 'ask' });
    expect(existsSync(join(folder, 'config.draft.json'))).toBe(false);
  });

  test('saves nothing that is broken, and goes on with it later', async () => {
    const owner = newOwner({ mode: 'plan' }, { EDITOR: editorThatWrites('{"mode": "ask",}') });
    const draft = join(owner.folder, 'config.draft.json');
    expect(await owner.run('edit')).toEqual(
      refused(/^drawbridge: Not saved: .*draft\.json, line 1, column 16: .* kept in /),
    );
    expect(owner.read()).toBe('{"mode":"plan"}');
    expect(readFileSync(draft, 'utf8')).toBe('{"mode": "ask",}\n');
    const repair = { env: { ...owner.env, EDITOR: `sed -i s/,//` } };
    const repaired = await callDrawbridge(['config', 'edit'], repair);
    expect(repaired).toMatchObject({ code: 0, stderr: expect.stringContaining('not saved') });
    expect(JSON.parse(owner.read())).toMatchObject({ mode: 'ask' });
    expect(existsSync(draft)).toBe(false);
  });

  test('opens a broken file, so that a person can repair it', async () => {
    const { run, read } = newOwner('{"mode": "ask",}', { EDITOR: 'sed -i s/,//' });
    expect(await run('edit')).toMatchObject({ code: 0 });
    expect(JSON.parse(read())).toMatchObject({ mode: 'ask' });
  });

  test.each([
    ['an editor that fails', { EDITOR: 'false' }, 1, /The editor .* failed/],
    ['no editor', { EDITOR: '', VISUAL: '' }, 2, /set VISUAL or EDITOR/],
  ])('changes nothing with %s', async (_, variables, code, why) => {
    const { run, read } = newOwner({ mode: 'plan' }, variables);
    expect(await run('edit')).toMatchObject({ code, stderr: expect.stringMatching(why) });
    expect(read()).toBe('{"mode":"plan"}');
  });

  test.runIf(HAS_TERMINALS)('offers to edit again at a terminal', async () => {
    const editor = join(temporaryFolder(), 'editor');
    const script =
      'if [ -e "$0.second" ]; then echo {} > "$1"; else echo x > "$1"; touch "$0.second"; fi';
    writeFileSync(editor, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const { env, read } = newOwner({ mode: 'plan' }, { EDITOR: editor });
    const terminal = openPseudoTerminal([process.execPath, DRAWBRIDGE, 'config', 'edit'], { env });
    await terminal.shows('Edit it again? y or n:');
    terminal.type('y\r');
    expect((await terminal.finished).code).toBe(0);
    expect(JSON.parse(read())).toEqual({ $schema: './config.schema.json' });
  });
});

describe('up', () => {
  test('starts with the settings of the file, and gives the bridge none of its keys', async () => {
    const { env } = newOwner({
      baseUrl: 'http://127.0.0.1:1/v1',
      model: 'mine',
      key: { env: 'GEMINI_CLI_IDE_A_KEY' },
      server: { allowedOrigins: ['https://a.test'] },
    });
    const place = newPlace();
    const { ready } = await startReady(place, [], { ...env, GEMINI_CLI_IDE_A_KEY: 'a-key' });
    expect(ready.model).toBe('mine');
    expect(await (await fetch(`${ready.url}/variables`)).json()).toMatchObject({
      OPENAI_MODEL: 'mine',
      OPENAI_API_KEY: 'a-key',
      ALLOWED_ORIGINS: 'https://a.test',
    });
    const saw = JSON.parse(readFileSync(join(place.stateDir, 'bridge-saw.json'), 'utf8'));
    expect(saw.environment).not.toContain('GEMINI_CLI_IDE_A_KEY');
  });

  test.each([
    ['a broken file', '{', /config\.json, line 1, column 2/],
    [
      'a key that cannot be had',
      { key: { file: 'none' }, model: 'a' },
      /config\.json, key: the file .*none does not exist/,
    ],
  ])('refuses to start with %s', async (_, config, why) => {
    const { env } = newOwner(config);
    expect(await callDrawbridge(upArguments(newPlace()), { env })).toEqual(refused(why));
  });
});

test('chat is in the default mode, unless it names another', async () => {
  await using api = await startScriptedApi(SAMPLE_TAPE);
  const { env } = newOwner({ mode: 'plan' });
  const target = ['--url', api.url, '--token', 'token'];
  for (const words of [[], ['--mode', 'ask']]) {
    await callDrawbridge(['chat', 'Hi', ...words, ...target], { env });
  }
  expect(api.requests).toMatchObject([{ body: { mode: 'plan' } }, { body: { mode: 'ask' } }]);
});

const DOCS = join(import.meta.dirname, '..', '..', '..', 'docs');

test('docs/configuration.md has every setting', () => {
  const text = readFileSync(join(DOCS, 'configuration.md'), 'utf8');
  expect(dottedFields().filter((name) => !text.includes(`| \`${name}\``))).toEqual([
    'webSearch',
    'server',
  ]);
});

test('the published schema is the one of the program', () => {
  const file = join(DOCS, 'config.schema.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(configSchemaText()));
});

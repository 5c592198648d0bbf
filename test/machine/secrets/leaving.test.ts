/** What leaves a real bridge, and what comes back. */
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runBridge } from '../../../bridge/run.ts';
import { sha256 } from '../../../machine/hash.ts';
import { logEvent, logTo } from '../../../machine/log.ts';
import { maskOf } from '../../../machine/secrets/filter.ts';
import {
  plainLaunch,
  run as runLaunch,
} from '../../../packages/sandbox/test/terminal/plain-launch.ts';
import { type Device, newDevice } from '../../bridge/admission/device.ts';
import { temporaryWorkspace } from '../../bridge/tools/temporary-workspace.ts';
import { ScriptedTunnel } from '../../bridge/tunnel/scripted-tunnel.ts';
import { Bench, newCall, nextResult } from '../../bridge/tunnel/session-bench.ts';
import { allTokens, privateKeys } from './samples.ts';

const { secret = '', kind = '' } = allTokens().find((each) => each.kind === 'GitHub token') ?? {};
const MASK = maskOf(kind);
const [, KEY = ''] = privateKeys()[0] ?? [];

async function startBridge(files: Record<string, string>, rules: readonly unknown[] = []) {
  const tunnel = await ScriptedTunnel.open();
  const place = await temporaryWorkspace(files);
  const stateDir = join(place.root, '..', 'state');
  await mkdir(stateDir);
  await writeFile(join(stateDir, 'policy.json'), JSON.stringify({ rules }));
  const ending = new AbortController();
  const config = {
    url: tunnel.url,
    token: 'secret',
    bridgeId: `bridge_${randomUUID()}`,
    stateDir,
    workspaceDir: place.root,
    environment: process.env,
    asksAtTerminal: false,
    onStatus: () => {},
  };
  const ended = logTo(
    () => {},
    () => runBridge(config, ending.signal),
  );
  onTestFinished(async () => {
    ending.abort();
    await ended.catch(() => {});
    await tunnel[Symbol.asyncDispose]();
  });
  const connection = await tunnel.welcomed();
  const call = async (tool: string, args: Record<string, unknown>) => {
    connection.send({ type: 'call', call: newCall(tool, args) });
    return (await connection.next('result')).result;
  };
  return { place, connection, call };
}

test('what a call reads is masked, and an edit around it keeps the secret', async () => {
  const text = `one\ntoken: ${secret}\ntwo\n${KEY}three\n`;
  const { place, call } = await startBridge({ 'a.txt': text });
  const read = await call('read_file', { target_file: 'a.txt' });
  expect(read).toMatchObject({ status: 'success' });
  expect(read.data).toContain(`token: ${MASK}`);
  expect(read.data).toContain(maskOf('private key'));
  const found = await call('grep', { pattern: 'token', output_mode: 'content' });
  expect(found.data).toContain(`token: ${MASK}`);
  const around = { file_path: 'a.txt', old_string: 'two\n', new_string: '2\n' };
  const edited = await call('str_replace', around);
  expect(edited).toMatchObject({ status: 'success' });
  for (const result of [read, found, edited]) {
    const sent = JSON.stringify(result);
    expect(sent).not.toContain(secret.slice(0, 20));
    expect(sent).not.toContain(KEY.split('\n')[2]);
  }
  expect(await place.text('a.txt')).toBe(text.replace('two\n', '2\n'));
});

test('a read that begins below the first line of a key shows none of it, under the same numbers', async () => {
  const { call } = await startBridge({ 'a.txt': `one\n${KEY}three\n` });
  const lines = KEY.trimEnd().split('\n');
  for (const [offset, limit] of [
    [4, 30],
    [3, 2],
    [lines.length, 1],
    [-4, 2],
  ]) {
    const { data } = await call('read_file', { target_file: 'a.txt', offset, limit });
    expect(data).toContain(maskOf('private key'));
    for (const line of lines.slice(1, -1)) expect(data).not.toContain(line.slice(0, 12));
  }
  const { data } = await call('read_file', { target_file: 'a.txt', offset: lines.length + 2 });
  expect(data).toMatch(new RegExp(`^ *${lines.length + 2}\\|three`));
});

test('a search that finds lines of a key shows none of them, under the same numbers', async () => {
  const lines = KEY.trimEnd().split('\n');
  const data64 = Buffer.from('x'.repeat(48)).toString('base64');
  const { call } = await startBridge({
    'a.txt': `é\n${KEY}three ${'y'.repeat(64)}\n`,
    'b.txt': `${data64}\n`,
    'c.txt': `${'z\n'.repeat(60_000)}${KEY.replaceAll('\n', '\r\n')}`,
  });
  const args = { pattern: '[A-Za-z0-9+/]{64}', output_mode: 'content' };
  for (const more of [{}, { '-C': 1 }, { path: 'c.txt' }]) {
    const { data } = await call('grep', { ...args, ...more });
    for (const line of lines.slice(1, -2)) expect(data).not.toContain(line.slice(0, 12));
    expect(data).toContain(`:${maskOf('private key')}`);
  }
  const { data } = await call('grep', args);
  expect(data).toContain(`a.txt\n3:${maskOf('private key')}\n4:${maskOf('private key')}\n`);
  expect(data).toContain(`three ${'y'.repeat(64)}\n`);
  expect(data).toContain(`b.txt\n1:${data64}`);
});

test('a change that would write the mask is refused, and nothing is lost', async () => {
  const text = `token: ${secret}\nother: 1\n`;
  const { place, call } = await startBridge({ 'a.txt': text });
  await call('read_file', { target_file: 'a.txt' });
  const masked = `token: ${MASK}\nother: 2\n`;
  const changes = [
    ['write', { path: 'a.txt', contents: masked }],
    ['write', { path: 'new.txt', contents: masked }],
    ['edit_file', { target_file: 'a.txt', code_edit: masked }],
    ['str_replace', { file_path: 'a.txt', old_string: `token: ${MASK}`, new_string: 'token: 1' }],
    ['str_replace', { file_path: 'a.txt', old_string: 'other: 1', new_string: `x: ${MASK}` }],
    ['run_terminal_cmd', { command: `cat > a.txt <<'END'\n${masked}END` }],
  ] as const;
  for (const [tool, args] of changes) {
    expect(await call(tool, args)).toMatchObject({
      code: 'MASKED_SECRET',
      data: expect.stringContaining(MASK),
    });
  }
  expect(await place.text('a.txt')).toBe(text);
  expect(await call('grep', { pattern: `x ${MASK}` })).toMatchObject({ status: 'success' });
});

test('what a message names is masked, and so is what the bridge says of the folder', async () => {
  const { connection } = await startBridge({
    'a.txt': `a ${secret}\n`,
    'AGENTS.md': `b ${secret}`,
  });
  const { conversationId } = newCall('read_file');
  const mentions = [{ type: 'path', path: 'a.txt', isCertain: true } as const];
  connection.send({ type: 'look', lookId: 'look_1', message: { conversationId, mentions } });
  const sent = JSON.stringify(await connection.next('context'));
  expect(sent).toContain(`a ${MASK}`);
  expect(sent).toContain(`b ${MASK}`);
  expect(sent).not.toContain(secret);
});

test('a question shows a change without its secrets, and the text that holds one is not sent', async () => {
  const asked = async (text: string) => {
    const rules = [{ tool: 'edit', pattern: '*', decision: 'ask' }];
    const { connection, call } = await startBridge({ 'a.txt': text }, rules);
    await call('read_file', { target_file: 'a.txt' });
    const args = { file_path: 'a.txt', old_string: 'last line', new_string: 'end' };
    connection.send({ type: 'call', call: newCall('str_replace', args) });
    return await connection.next('approval_request');
  };
  expect((await asked('x\nlast line\n')).newText).toBe('x\nend\n');
  const beside = await asked(`x ${secret}\nlast line\n`);
  expect(beside.newText).toBeUndefined();
  expect(JSON.stringify(beside)).not.toContain(secret);
});

test('a yes to a masked change is for the exact bytes', async () => {
  const device: Device = await newDevice();
  const text = `old ${secret}\n`;
  const bench = await Bench.start(
    { decide: () => 'ask', devices: [device.key] },
    { 'a.txt': text },
  );
  const contents = `new ${secret}\n`;
  const call = newCall('write', { path: 'b.txt', contents });
  const question = await bench.ask(call);
  expect(question.proposal).toMatchObject({
    diff: [{ newString: expect.stringContaining(`new ${MASK}`) }],
    afterHash: sha256(Buffer.from(contents)),
  });
  bench.session.receive({ type: 'approval', answer: await device.approve(question) });
  expect(await nextResult(bench, call)).toMatchObject({ status: 'success' });
  expect(await bench.place.text('b.txt')).toBe(contents);
});

test('a command that prints a secret in pieces shows none of it', async () => {
  const pieces = [secret.slice(0, 2), secret.slice(2, 17), secret.slice(17)];
  const print = pieces.map((piece) => `printf %s ${piece}`).join('; sleep 0.05; ');
  const live: string[] = [];
  const { output } = await runLaunch(
    plainLaunch(`printf 'a '; ${print}; printf '\\n%s' '${KEY}'`),
    {
      onOutput: (text: string) => void live.push(text),
    },
  );
  expect(live.join('')).toBe(output);
  expect(output).toMatch(new RegExp(`^a ${MASK.replace('[', '\\[')}\n-----BEGIN`));
  expect(output).not.toContain(KEY.split('\n')[1]);
});

test('the log has no secret', () => {
  const logged: unknown[] = [];
  logTo(
    (entry, line) => logged.push(entry, line),
    () => logEvent({ event: 'tool_failed', message: `it said ${secret}` }),
  );
  expect(JSON.stringify(logged)).not.toContain(secret);
  expect(JSON.stringify(logged)).toContain(MASK);
});

import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { choosing, newSession, openEditor, prompt, spawnAcp } from './acp-editor.ts';
import { oneHouse } from './one-house.ts';

const at = oneHouse({
  rules: [
    { tool: 'run_terminal_cmd', pattern: 'touch *', decision: 'ask' },
    { tool: 'write', pattern: '*', decision: 'ask' },
  ],
});

const file = () => join(at.house.workspace, 'made.txt');
const write = { calls: [{ name: 'write', arguments: { path: 'made.txt', contents: 'new\n' } }] };
const CODE = 'Here it is:\n\n```js\nlet a = 1;\n```\n\nThat was it.';

beforeEach(() => rmSync(file(), { force: true }));

describe('a prompt', () => {
  it('streams its answer as one message, with code in its fences', async () => {
    at.answerWith([{ text: CODE }]);
    const editor = await openEditor(at.house);
    const id = await newSession(editor, at.house);
    expect(await prompt(editor, id, 'show me')).toBe('end_turn');
    expect(editor.text(id)).toBe(CODE);
    const chunks = editor.of(id, 'agent_message_chunk');
    expect(chunks.length).toBeGreaterThan(2);
    expect(new Set(chunks.map(({ messageId }) => messageId)).size).toBe(1);
    expect(editor.text(id, 'user_message_chunk')).toBe('');
    expect(editor.of(id, 'available_commands_update')).toHaveLength(1);
    await vi.waitFor(() => expect(editor.of(id, 'session_info_update')).not.toEqual([]));
    expect((await at.house.client.getConversation(id)).title).toBe('show me');
  });

  it('has the mode that was chosen, and both forms of the choice', async () => {
    at.answerWith([{ text: 'Only an answer.' }]);
    const editor = await openEditor(at.house);
    const cwd = at.house.workspace;
    const made = await editor.agent.request('session/new', { cwd, mcpServers: [] });
    expect(made.modes?.availableModes.map(({ id }) => id)).toEqual([
      ...['agent', 'plan', 'ask', 'debug'],
    ]);
    expect(made.configOptions?.map(({ id, currentValue }) => [id, currentValue])).toEqual([
      ...[
        ['mode', 'agent'],
        ['model', 'scripted'],
      ],
    ]);
    const { sessionId } = made;
    await editor.agent.request('session/set_mode', { sessionId, modeId: 'ask' });
    expect(editor.of(sessionId, 'current_mode_update')).toMatchObject([{ currentModeId: 'ask' }]);
    const wrong = editor.agent.request('session/set_mode', { sessionId, modeId: 'nonsense' });
    await expect(wrong).rejects.toThrow('There is no mode nonsense.');
    await prompt(editor, sessionId, 'what is here?');
    const { responses } = await at.house.client.getConversation(sessionId);
    expect(responses[0]?.mode).toBe('ask');
  });

  it('attaches what it links to, through the link that the editor has open', async () => {
    at.answerWith([{ text: 'Read.' }]);
    const cwd = `${at.house.workspace}-link`;
    symlinkSync(at.house.workspace, cwd);
    onTestFinished(() => rmSync(cwd));
    writeFileSync(join(at.house.workspace, 'a "b".ts'), 'one\ntwo\n');
    const editor = await openEditor(at.house);
    const sessionId = await newSession(editor, { workspace: cwd });
    const links = ['a "b".ts#L2', 'gone.ts'].map((name) => ({
      type: 'resource_link' as const,
      name,
      uri: `file://${cwd}/${name}`,
    }));
    const words = ['see', 'now'].map((text) => ({ type: 'text' as const, text }));
    const [see, now] = words as [(typeof words)[0], (typeof words)[0]];
    await editor.agent.request('session/prompt', { sessionId, prompt: [see, ...links, now] });
    const told = String(at.requests().at(-1)?.messages.at(-1)?.content);
    expect(told).toMatch(/<attached_file>\na "b".ts\n2\|two\n/);
    expect(told).toContain('<not_attached>\ngone.ts\n');
    expect(told).toContain('see @"a \\"b\\".ts":2-2 @gone.ts now\n');
  });

  it('fails with the reason where the model server does', async () => {
    at.answerWith([{ status: 401, body: '{"error": {"message": "no such key"}}' }]);
    const editor = await openEditor(at.house);
    const id = await newSession(editor, at.house);
    await expect(prompt(editor, id, 'go')).rejects.toThrow('UPSTREAM_ERROR');
    expect(editor.text(id)).toMatch(/^\*\*Error UPSTREAM_ERROR:\*\* /);
  });
});

describe('a permission', () => {
  it('shows the whole change, and writes it after a yes of this machine', async () => {
    at.answerWith([write, { text: 'Written.' }]);
    const editor = await openEditor(at.house);
    const id = await newSession(editor, at.house);
    expect(await prompt(editor, id, 'write it')).toBe('end_turn');
    expect(readFileSync(file(), 'utf8')).toBe('new\n');
    const [asked] = editor.permissions;
    expect(asked?.toolCall).toMatchObject({ title: 'create made.txt', kind: 'edit' });
    expect(asked?.toolCall.content?.at(-1)).toEqual({
      type: 'diff',
      path: file(),
      oldText: null,
      newText: 'new\n',
    });
    expect(asked?.options.map(({ optionId }) => optionId)).toEqual([
      ...['once', 'conversation', 'reject'],
    ]);
    const calls = [...editor.of(id, 'tool_call'), ...editor.of(id, 'tool_call_update')];
    expect(new Set(calls.map(({ toolCallId }) => toolCallId))).toEqual(
      new Set([asked?.toolCall.toolCallId]),
    );
    expect(calls.map(({ status }) => status)).toContain('pending');
    expect(calls.at(-1)).toMatchObject({ status: 'completed', locations: [{ path: file() }] });
    const { responses } = await at.house.client.getConversation(id);
    expect(responses[0]?.documents[0]?.metadata['answered']).toMatchObject({ by: 'device' });
  });

  it('leaves the file alone after a no', async () => {
    at.answerWith([write, { text: 'Well then.' }]);
    const editor = await openEditor(at.house, { decide: choosing('reject') });
    const id = await newSession(editor, at.house);
    expect(await prompt(editor, id, 'write it')).toBe('end_turn');
    expect(existsSync(file())).toBe(false);
    expect(editor.of(id, 'tool_call_update').at(-1)).toMatchObject({ status: 'failed' });
  });
});

describe('bad input', () => {
  it('is refused line by line, and the protocol goes on', async () => {
    const child = spawnAcp(['--state', at.house.state]);
    const lines: { id?: unknown; error?: { code: number }; result?: object }[] = [];
    if (!child.stdout) throw new Error('no stdout');
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)));
    child.stdin?.write('no JSON\n[]\n7\n{"a": 1}\n\n');
    child.stdin?.write('{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/"}}\n');
    child.stdin?.write('{"jsonrpc":"2.0","id":2,"method":"session/nonsense"}\n');
    const params = { protocolVersion: 99, clientCapabilities: {} };
    const hello = { jsonrpc: '2.0', id: 3, method: 'initialize', params };
    child.stdin?.write(`${JSON.stringify(hello)}\n`);
    await vi.waitFor(() => expect(lines.find(({ id }) => id === 3)).toBeDefined());
    expect(lines.find(({ id }) => id === 3)?.result).toMatchObject({ protocolVersion: 1 });
    const refused = lines.filter(({ error }) => error).map(({ error }) => error?.code);
    expect(refused.length).toBeGreaterThanOrEqual(5);
    const exited = once(child, 'exit');
    child.stdin?.end();
    expect(await exited).toEqual([0, null]);
  });

  it('of a folder without a workspace is refused with a reason', async () => {
    const editor = await openEditor(at.house);
    const other = mkdtempSync(join(tmpdir(), 'drawbridge-other-'));
    for (const [cwd, why] of [
      ['relative', 'absolute path'],
      ['/nonexistent/folder', '/nonexistent/folder'],
      [other, other],
    ] as const) {
      const request = editor.agent.request('session/new', { cwd, mcpServers: [] });
      await expect(request).rejects.toThrow(why);
    }
    rmSync(other, { recursive: true });
  });

  it('of audio and of binary files is refused, and nothing is sent', async () => {
    const editor = await openEditor(at.house);
    const sessionId = await newSession(editor, at.house);
    const audio = { type: 'audio' as const, data: 'AAAA', mimeType: 'audio/wav' };
    const request = editor.agent.request('session/prompt', { sessionId, prompt: [audio] });
    await expect(request).rejects.toMatchObject({ code: -32602 });
    await expect(at.house.client.getConversation(sessionId)).rejects.toThrow();
  });
});

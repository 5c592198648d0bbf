import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { REQUEST_LIMITS } from '../../../shared/limits.ts';
import { BRIDGE_ID, CONVERSATION_ID } from '../../client/sample-tape.ts';
import { openWriter, POST } from './open-writer.ts';

/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=',
  'base64',
);

it('shows a long paste as a mark and sends the whole of it', async () => {
  const { terminal, writer, sent } = await openWriter();
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\n');
  terminal.type('Look: ');
  paste(terminal, lines);
  await expect.poll(() => terminal.screen()).toContain('Look: [paste #1 +40 lines]');
  terminal.type('\r');
  await expect.poll(sent).toEqual([`Look: ${lines}`]);
  expect(writer.composer.isEmpty).toBe(true);
});

it('keeps a message that is too long, and says the limit before anything is sent', async () => {
  const { terminal, api, said, writer } = await openWriter();
  const text = `${'a'.repeat(99)}\n`.repeat(10_000);
  paste(terminal, text);
  terminal.type('\r');
  expect(said).toEqual([expect.stringContaining(String(REQUEST_LIMITS.maxMessageChars))]);
  expect(api.requests).toEqual([]);
  expect(writer.composer.getExpandedText()).toBe(text);
  terminal.type('!');
  await expect.poll(() => terminal.screen()).toContain('[paste #1 +10001 lines]!');
});

it.each([
  ['Shift+Enter', '\x1b[13;2u'],
  ['Alt+Enter', '\x1b\r'],
  ['Alt+Enter of newer terminals', '\x1b[13;3u'],
  ['Ctrl+J', '\n'],
])('begins a new line at %s', async (_, key) => {
  const { terminal, sent } = await openWriter();
  for (const data of ['a', key, 'b', '\r']) terminal.type(data);
  await expect.poll(sent).toEqual(['a\nb']);
});

it('begins a new line at Enter behind a backslash', async () => {
  const { terminal, sent } = await openWriter();
  for (const data of ['a', '\\', '\r', 'b', '\r']) terminal.type(data);
  await expect.poll(sent).toEqual(['a\nb']);
});

it('sends no unknown command: it stays in the composer', async () => {
  const { terminal, api, said, writer } = await openWriter();
  type(terminal, '/etc/hosts is wrong');
  terminal.type('\r');
  await expect.poll(() => said).toEqual([expect.stringContaining('nothing was sent')]);
  expect(said[0]).toContain('With a blank before it');
  expect(writer.composer.getText()).toBe('/etc/hosts is wrong');
  expect(api.requests).toEqual([]);
});

it('sends a line that calls a skill of the machine, and offers those that a person may call', async () => {
  const { terminal, api, said, sent } = await openWriter({ bridgeId: 'bridge_1' });
  const skill = (name: string, callers: string) => ({
    type: 'skill',
    name,
    description: `About ${name}`,
    path: name,
    callers,
    origin: 'workspace',
  });
  api.answers.set('GET bridges/bridge_1', {
    id: 'bridge_1',
    connected: true,
    tools: [],
    workspacePath: '/w',
    mcpServers: [],
    lastConnected: '2026-11-20T12:00:00Z',
    confinement: { kind: 'none', detail: '' },
    definitions: { modes: [], agents: [], leftOut: [] },
    skills: [skill('zip', 'anyone'), skill('zap', 'model'), skill('help', 'anyone')],
  });
  type(terminal, '/z');
  await expect.poll(() => api.requests.length).toBe(1);
  type(terminal, 'i');
  await expect.poll(() => terminal.screen()).toContain('About zip');
  expect(await terminal.screen()).not.toContain('About zap');
  type(terminal, 'p it');
  await expect.poll(() => terminal.screen()).not.toContain('About zip');
  terminal.type('\r');
  await expect.poll(sent).toEqual(['/zip it']);
  type(terminal, '/zap it');
  terminal.type('\r');
  await expect.poll(() => said.at(-1)).toContain('There is no command /zap');
  expect(sent()).toHaveLength(1);
});

it('carries out no command with words that it does not take', async () => {
  const { terminal, said, writer } = await openWriter();
  type(terminal, '/exit codes are wrong');
  terminal.type('\r');
  await expect.poll(() => said).toEqual([expect.stringContaining('/exit takes no more words')]);
  expect(writer.composer.getText()).toBe('/exit codes are wrong');
});

it('names the command that was probably meant', async () => {
  const { terminal, said } = await openWriter();
  type(terminal, '/resmue');
  terminal.type('\r');
  await expect.poll(() => said.join()).toContain('did you mean resume?');
});

it('sends a line with a blank before its slash', async () => {
  const { terminal, sent } = await openWriter();
  type(terminal, ' /etc/hosts is wrong');
  terminal.type('\r');
  await expect.poll(sent).toEqual(['/etc/hosts is wrong']);
});

it('completes the names of commands, and runs what Enter chooses', async () => {
  const { terminal, session, said } = await openWriter({ choice: 'plan' });
  type(terminal, '/mo');
  await expect.poll(() => terminal.screen()).toContain('→ mode [NAME]');
  terminal.type('\r');
  await expect.poll(() => said).toEqual(['Mode: plan']);
  expect(session.chat.mode).toBe('plan');
});

it('completes the argument of a command', async () => {
  const { terminal, session } = await openWriter();
  type(terminal, '/mode de');
  await expect.poll(() => terminal.screen()).toContain('→ debug');
  terminal.type('\t');
  terminal.type('\r');
  await expect.poll(() => session.chat.mode).toBe('debug');
});

it('goes through what was written in earlier chats, and searches it', async () => {
  const stateDir = temporaryFolder();
  const first = await openWriter({ stateDir });
  for (const text of ['one', 'two\nlines', 'three'])
    await first.writer.submit({ text, isPlain: false });
  const file = join(stateDir, 'history.jsonl');
  await expect.poll(() => readFileSync(file, 'utf8')).toContain('"three"');
  expect(statSync(file).mode & 0o777).toBe(0o600);

  writeFileSync(file, `{"text": 7}\nno JSON\n${readFileSync(file, 'utf8')}`);
  const { terminal, writer } = await openWriter({ stateDir, choice: '1' });
  terminal.type('\x1b[A');
  expect(writer.composer.getText()).toBe('three');
  terminal.type('\x1b[A');
  terminal.type('\x1b[A');
  expect(writer.composer.getText()).toBe('one');
  terminal.type('\x12');
  await expect.poll(() => writer.composer.getText()).toBe('two\nlines');
});

it('never writes the texts of a private conversation to the disk', async () => {
  const stateDir = temporaryFolder();
  const { writer, session } = await openWriter({ stateDir, isPrivate: true });
  await writer.submit({ text: 'a secret', isPlain: false });
  await expect.poll(() => session.view?.id).toBe(CONVERSATION_ID);
  writer.composer.write('another secret');
  await writer.memory.leave();
  expect(statSync(join(stateDir, 'history.jsonl'), { throwIfNoEntry: false })).toBeUndefined();
  expect(statSync(join(stateDir, 'drafts.json'), { throwIfNoEntry: false })).toBeUndefined();
});

it('keeps a draft until its conversation is opened again', async () => {
  const stateDir = temporaryFolder();
  const conversationId = CONVERSATION_ID;
  const first = await openWriter({ stateDir, conversationId });
  await expect.poll(() => first.session.view?.id).toBe(CONVERSATION_ID);
  first.writer.composer.write('half a thou');
  await first.writer.memory.leave();

  const second = await openWriter({ stateDir, conversationId });
  await expect.poll(() => second.writer.composer.getText()).toBe('half a thou');
  second.writer.composer.write('');
  await second.writer.memory.leave();
  expect(readFileSync(join(stateDir, 'drafts.json'), 'utf8')).toBe('{}\n');
});

it('takes the pasted path of an image as an image, which Backspace removes', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'my cat.png');
  writeFileSync(path, PNG);
  const { terminal, writer, api } = await openWriter();
  paste(terminal, path.replaceAll(' ', '\\ '));
  await expect.poll(() => terminal.screen()).toContain('[image my cat.png]');
  terminal.type('\x7f');
  expect(writer.attachments.isEmpty).toBe(true);
  paste(terminal, `'${path}'`);
  await expect.poll(() => writer.attachments.isEmpty).toBe(false);
  type(terminal, 'what is it?');
  terminal.type('\r');
  await expect
    .poll(() => api.requests.find(({ line }) => line === POST)?.body)
    .toMatchObject({
      messages: [
        {
          content: [
            { type: 'text', text: 'what is it?' },
            {
              type: 'image_url',
              image_url: { url: `data:image/png;base64,${PNG.toString('base64')}` },
            },
          ],
        },
      ],
    });
});

it('takes a pasted path of any other file as text', async () => {
  const { terminal, writer } = await openWriter();
  paste(terminal, '/nowhere/cat.png');
  expect(writer.composer.getText()).toBe('/nowhere/cat.png');
});

it('brings a refused message back with its images', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'a.png');
  writeFileSync(path, PNG);
  const { terminal, writer, api, said } = await openWriter();
  const body = { error: { code: 'PAYLOAD_TOO_LARGE', message: 'It is too large' } };
  api.fates.unshift({ type: 'refuse', status: 413, body });
  await writer.attach(path);
  type(terminal, 'look');
  terminal.type('\r');
  await expect.poll(() => said).toEqual(['error PAYLOAD_TOO_LARGE: It is too large']);
  expect([writer.composer.getText(), writer.attachments.isEmpty]).toEqual(['look', false]);
});

it('lists what is not sent yet, and Alt+Up takes it back', async () => {
  const { terminal, writer, api } = await openWriter();
  api.fates.unshift({ type: 'unanswered' });
  type(terminal, 'first');
  terminal.type('\r');
  type(terminal, 'second');
  terminal.type('\r');
  await expect.poll(() => terminal.screen()).toContain('› first (is being sent)');
  await expect.poll(() => terminal.screen()).toContain('› second (is being sent)');
  terminal.type('\x1b[1;3A');
  await expect.poll(() => writer.composer.getText()).toBe('second');
  terminal.type('\x1b[1;3A');
  await expect.poll(() => writer.composer.getText()).toBe('first\nsecond');
  expect(await terminal.screen()).not.toContain('›');
});

it('never sends a command of the shell, also not with Tab', async () => {
  const { terminal, said, api } = await openWriter();
  api.fates.unshift({ type: 'unanswered' });
  type(terminal, 'first');
  terminal.type('\r');
  type(terminal, '!cat secret');
  terminal.type('\t');
  await expect.poll(() => said).toEqual([expect.stringContaining('runs no command here')]);
  expect(JSON.stringify(api.requests)).not.toContain('secret');
});

it('runs no command of the person where the folder is on another machine', async () => {
  const { terminal, said } = await openWriter();
  type(terminal, '!touch here');
  terminal.type('\r');
  await expect.poll(() => said).toEqual([expect.stringContaining('another machine')]);
});

it.each([20, 40, 200])('fits into %i columns', async (columns) => {
  const folder = temporaryFolder();
  const path = join(folder, '漢字の写真.png');
  writeFileSync(path, PNG);
  const { terminal, writer, api } = await openWriter({ columns });
  api.fates.unshift({ type: 'unanswered' });
  await writer.attach(path);
  void writer.submit({ text: `漢字 \x1b[31m e\u0301 ${'wide '.repeat(50)}`, isPlain: true });
  await writer.attach(path);
  type(terminal, '/');
  await expect.poll(() => terminal.screen()).toContain('→ help');
  terminal.resize(columns + 3, 24);
  await expect.poll(() => terminal.screen()).toContain('[image');
});

function type({ type: press }: { type(data: string): void }, text: string): void {
  for (const character of text) press(character);
}

function paste({ type: press }: { type(data: string): void }, text: string): void {
  press(`\x1b[200~${text}\x1b[201~`);
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-writer-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

it('sends a message that ends with the whole mention of a file, although the list is still open', async () => {
  const { api, terminal, sent } = await openWriter({ bridgeId: BRIDGE_ID });
  const items = [
    { path: 'a.ts', type: 'file' },
    { path: 'a.tsx', type: 'file' },
  ];
  api.answers.set(`GET bridges/${BRIDGE_ID}/files?query=a.t`, { items });
  for (const key of 'see @a.t') terminal.type(key);
  await expect.poll(() => terminal.screen()).toContain('→ a.ts');
  for (const key of ['s', '\r']) terminal.type(key);
  await expect.poll(() => sent()).toEqual(['see @a.ts']);
});

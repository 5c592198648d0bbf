import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ownCommand } from '../../../cli/terminal/own-command.ts';
import { IMAGE_LIMITS, REQUEST_LIMITS } from '../../../shared/limits.ts';
import type { StreamEvent, TapeEvent } from '../../../shared/wire/events.ts';
import { CONVERSATION_ID, RESPONSE_ID, SAMPLE_TAPE } from '../../client/sample-tape.ts';
import {
  eventsAfter,
  NEVER,
  type ScriptedApi,
  startScriptedApi,
  streamText,
} from '../../client/scripted-api.ts';
import { temporaryFolder } from '../../local/temporary-folder.ts';
import { runDrawbridge, startDrawbridge } from '../drawbridge.ts';
import { ASKED, CANCEL } from './scripted-chat.ts';

const POSITIONED = eventsAfter(SAMPLE_TAPE, 0);
/** The stream up to the first line of the answer, and on to its last delta. */
const FIRST_LINE = streamText(POSITIONED.slice(0, 5));
const GOES_ON = streamText(POSITIONED.slice(5, 10));

describe('where stdout is a pipe', () => {
  it('it has the answer alone, and stderr the rest, without colours', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    expect(await runDrawbridge(chat(api, 'Hi'))).toEqual({
      code: 0,
      stdout: 'Grüße 👋\n\ndata: id: 7\n',
      stderr:
        '$ npm test\n  ok\n  1 passed\n  exit code 0\n\n' +
        '15 tokens (10 in, 5 out) · 2 turns · 1 tool call · 0.0 s\n',
    });
  });

  it.each(['stdout', 'stderr'] as const)(
    'a reader of %s who leaves ends it quietly, as SIGPIPE would',
    async (name) => {
      await using api = await startScriptedApi(SAMPLE_TAPE);
      const { promise: rest, resolve } = Promise.withResolvers<string>();
      api.fates.push({ type: 'text', text: FIRST_LINE, rest }, { type: 'unanswered' });
      const { process, firstLine, finished } = startDrawbridge(chat(api, 'Hi'));
      expect(await firstLine).toBe('Grüße 👋');
      process[name]?.destroy();
      resolve(GOES_ON);
      expect(await finished).toMatchObject({
        code: 141,
        stderr: expect.not.stringMatching(/error|EPIPE/i),
      });
      expect(api.requests.map(({ line }) => line)).not.toContain(CANCEL);
    },
  );

  it('a message that no answer follows says that it waits', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const { promise: rest, resolve } = Promise.withResolvers<string>();
    api.fates.push({ type: 'text', text: streamText(POSITIONED.slice(0, 1)), rest });
    const { finished, stderr } = startDrawbridge(chat(api, 'Hi'));
    await expect.poll(stderr).toMatch(/waits for the answer before it\. `[^`]+ approvals /);
    resolve(streamText(POSITIONED.slice(1)));
    expect(await finished).toMatchObject({ code: 0, stdout: 'Grüße 👋\n\ndata: id: 7\n' });
  });

  it('SIGTERM cancels the run', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    api.answers.set(CANCEL, { id: RESPONSE_ID, status: 'cancelled' });
    api.fates.push({ type: 'text', text: FIRST_LINE, rest: NEVER });
    const { process, firstLine, finished } = startDrawbridge(chat(api, 'Hi'));
    await firstLine;
    process.kill('SIGTERM');
    expect((await finished).code).toBe(143);
    expect(api.requests.map(({ line }) => line)).toContain(CANCEL);
  });

  it('a question is shown on stderr, and the run left waiting', async () => {
    const tape: TapeEvent[] = [...SAMPLE_TAPE.slice(0, 2), ...QUESTION];
    await using api = await startScriptedApi(tape);
    api.fates.push({ type: 'text', text: streamText(eventsAfter(tape, 0)), rest: NEVER });
    expect(await runDrawbridge(chat(api, 'Hi'))).toEqual({
      code: 3,
      stdout: '',
      stderr:
        "? Which?\n  1  This\nThe agent waits for your answer. Give it in the bridge's terminal, " +
        `on another device, or here in a terminal: ${ownCommand('chat')} ` +
        `--conversation ${CONVERSATION_ID} --url ${api.url} --token TOKEN\n`,
    });
  });

  it('a call that asks for approval leaves the run waiting too', async () => {
    const tape: TapeEvent[] = [...SAMPLE_TAPE.slice(0, 8), ASKED];
    await using api = await startScriptedApi(tape);
    api.fates.push({ type: 'text', text: streamText(eventsAfter(tape, 0)), rest: NEVER });
    expect(await runDrawbridge(chat(api, 'Hi'))).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(
        /needs your approval[\s\S]*The agent waits for your answer\. .*chat/,
      ),
    });
  });
});

describe('what is piped in', () => {
  it('stands below the prompt', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    await runDrawbridge(chat(api, 'explain', 'this'), { input: 'line 1\nGrüße\n' });
    expect(sent(api)).toEqual(['explain this\n\nline 1\nGrüße\n']);
  });

  it('is all there is to say without a prompt', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    await runDrawbridge(chat(api), { input: 'Hi\n' });
    expect(sent(api)).toEqual(['Hi\n']);
  });

  it.each([{ input: '' }, { input: undefined }])('may be nothing: $input', async ({ input }) => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const options = input === undefined ? {} : { input };
    expect(await runDrawbridge(chat(api, 'Hi'), options)).toMatchObject({ code: 0 });
    expect(sent(api)).toEqual(['Hi']);
  });

  it('is not waited for where a parent leaves a silent pipe', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const { code, stderr } = await runDrawbridge(chat(api, 'Hi'), { input: null });
    expect([code, stderr]).toEqual([0, expect.stringContaining('nothing came on stdin')]);
    expect(sent(api)).toEqual(['Hi']);
  });

  it('is refused where a message cannot hold it', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const input = 'x'.repeat(REQUEST_LIMITS.maxMessageChars + 1);
    expect(await runDrawbridge(chat(api, 'Hi'), { input })).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'drawbridge: The piped input is too long: a message may have at most 500000 characters.\n',
    });
    expect(api.requests).toEqual([]);
  });
});

describe('chat --json', () => {
  it('prints every event with its position, a line each, and nothing else', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const { code, stdout, stderr } = await runDrawbridge(chat(api, '--json', 'Hi'));
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line): StreamEvent => JSON.parse(line))).toEqual(
      POSITIONED.map(({ event, position }) => ({ ...event, position })),
    );
  });

  it('asks nothing: a question ends it with exit code 3', async () => {
    const tape: TapeEvent[] = [...SAMPLE_TAPE.slice(0, 2), ...QUESTION];
    await using api = await startScriptedApi(tape);
    api.fates.push({ type: 'text', text: streamText(eventsAfter(tape, 0)), rest: NEVER });
    const { code, stdout, stderr } = await runDrawbridge(chat(api, '--json', 'Hi'));
    expect([code, stdout.trimEnd().split('\n').length]).toEqual([3, tape.length]);
    expect(stderr).toContain('The agent waits for your answer.');
  });
});

describe('chat --continue', () => {
  const LIST = 'GET conversations?limit=20';

  it('goes on with the conversation that was answered last', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const created = '2026-11-20T12:00:00Z';
    const last = { title: 'Hi', archived: false, created, updated: created };
    api.answers.set(LIST, { items: [{ id: CONVERSATION_ID, ...last }], nextCursor: 'more' });
    expect(await runDrawbridge(chat(api, '--continue', 'Hi'))).toMatchObject({ code: 0 });
    expect(api.requests).toMatchObject([
      { line: LIST },
      { body: { conversationId: CONVERSATION_ID } },
    ]);
  });

  it('says so where there is none', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    api.answers.set(LIST, { items: [], nextCursor: null });
    expect(await runDrawbridge(chat(api, '--continue', 'Hi'))).toEqual({
      code: 1,
      stdout: '',
      stderr: 'drawbridge: There is no conversation to continue.\n',
    });
  });
});

describe('chat --image', () => {
  it('sends the files as what they are, whatever their names', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const png = newFile('a.txt', Buffer.from('\x89PNG\r\n\x1a\nxx', 'latin1'));
    const webp = newFile('b', Buffer.from('RIFF\n\0\0\0WEBPVP8 ', 'latin1'));
    await runDrawbridge(chat(api, '--image', png, '--image', webp, 'Look'));
    expect(sent(api)).toEqual([
      [
        { type: 'text', text: 'Look' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgp4eA==' } },
        {
          type: 'image_url',
          image_url: { url: 'data:image/webp;base64,UklGRgoAAABXRUJQVlA4IA==' },
        },
      ],
    ]);
  });

  it.each([
    { name: 'missing', file: () => '/no/such.png', says: 'there is no such file' },
    { name: 'a folder', file: temporaryFolder, says: 'EISDIR' },
    { name: 'no image', file: () => newFile('a.png', Buffer.from('Hi')), says: 'is not an image' },
    {
      name: 'too large',
      file: () => newFile('a.png', Buffer.alloc(IMAGE_LIMITS.maxBodyBytes)),
      says: 'is too large: it may have at most 37.7 MB',
    },
  ])('refuses a file that is $name', async ({ file, says }) => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const { code, stderr } = await runDrawbridge(chat(api, '--image', file(), 'Look'));
    expect([code, stderr]).toEqual([2, expect.stringMatching(`^drawbridge: .*${says}.*\n$`)]);
    expect(api.requests).toEqual([]);
  });
});

describe('a command line that cannot be', () => {
  it.each([
    { args: ['--continue', '--conversation', CONVERSATION_ID, 'Hi'], says: 'cannot be used with' },
    { args: ['--conversation', 'conv_1', 'Hi'], says: 'A conversation has an id like conv_…' },
    { args: ['--mode', 'Fast!', 'Hi'], says: 'A mode has lower-case letters' },
    { args: ['--max-turns', '1001', 'Hi'], says: 'It is a whole number from 1 to 1000' },
    { args: ['--answer-within', '0', 'Hi'], says: 'It is a whole number from 1 to 86400' },
    { args: [], says: 'The message is empty' },
  ])('is refused with exit code 2: $args', async ({ args, says }) => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const { code, stderr } = await runDrawbridge(chat(api, ...args));
    expect([code, stderr]).toEqual([2, expect.stringMatching(`^drawbridge: .*${says}.*\n$`)]);
    expect(api.requests).toEqual([]);
  });
});

it('the limit of turns is asked for, and its end names the command that goes on', async () => {
  const tape: TapeEvent[] = [...SAMPLE_TAPE.slice(0, 2), ...LIMITED];
  await using api = await startScriptedApi(tape);
  const { code, stderr } = await runDrawbridge(chat(api, '--max-turns', '5', 'Hi'));
  expect(code).toBe(1);
  expect(stderr).toContain(
    'The answer is close to its limit, which the model knows. 1 of 5 turns are left.',
  );
  expect(stderr).toContain('Stopped after 5 turns.');
  expect(stderr).toContain(
    `To go on from here: ${ownCommand('chat')} --conversation ${CONVERSATION_ID} --url ${api.url} --token TOKEN continue\n`,
  );
  expect(api.requests[0]?.body).toMatchObject({ budget: { maxTurns: 5 } });
});

it('an error of the API is one line, and exit code 1', async () => {
  await using api = await startScriptedApi(SAMPLE_TAPE);
  const body = { error: { code: 'UNKNOWN_MODEL', message: 'No\nmodel \u001b[2J' } };
  api.fates.push({ type: 'refuse', status: 400, body });
  expect(await runDrawbridge(chat(api, 'Hi'))).toEqual({
    code: 1,
    stdout: '',
    stderr: 'drawbridge: error UNKNOWN_MODEL: No model ␛[2J\n',
  });
});

const LIMITED: readonly TapeEvent[] = [
  {
    type: 'budget_near',
    responseId: RESPONSE_ID,
    budget: {
      limits: { maxTurns: 5 },
      spent: { turns: 4, tokens: 0, cost: null, seconds: 1 },
      near: ['maxTurns'],
    },
  },
  {
    type: 'document_start',
    document: {
      id: 'doc_001',
      type: 'error',
      sequence: 1,
      metadata: { errorCode: 'TURN_LIMIT', source: 'drawbridge' },
    },
  },
  { type: 'content_delta', documentId: 'doc_001', delta: 'Stopped after 5 turns.' },
  { type: 'document_end', documentId: 'doc_001' },
  {
    type: 'done',
    responseId: RESPONSE_ID,
    status: 'error',
    usage: null,
    metadata: { duration_ms: 12, toolCallCount: 1, turnCount: 5 },
  },
];

const QUESTION: readonly TapeEvent[] = [
  { type: 'document_start', document: { id: 'doc_001', type: 'clarification', sequence: 1 } },
  {
    type: 'clarification_request',
    documentId: 'doc_001',
    questions: [{ id: 'q', text: 'Which?', options: [{ id: 'a', label: 'This' }] }],
  },
];

function chat(api: ScriptedApi, ...args: string[]): string[] {
  return ['chat', '--url', api.url, '--token', 'token', ...args];
}

/** The content of each message that was sent. */
function sent(api: ScriptedApi): unknown[] {
  return api.requests.map(({ body }) => Object(body).messages[0].content);
}

function newFile(name: string, bytes: Buffer): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, bytes);
  return path;
}

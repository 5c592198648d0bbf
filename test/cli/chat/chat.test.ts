import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Chat } from '../../../cli/chat/chat.ts';
import { runChat } from '../../../cli/chat/run-chat.ts';
import type { EndSignal } from '../../../cli/terminal/terminal.ts';
import { UsageError } from '../../../cli/terminal/usage-error.ts';
import { ApprovalRequest } from '../../../shared/api/requests.ts';
import { ALLOW_ONCE, approvalText, DEVICE_ALGORITHM } from '../../../shared/wire/approval-text.ts';
import type { ApprovalQuestion, Proposal } from '../../../shared/wire/approvals.ts';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import {
  BRIDGE_ID,
  CALL_ID,
  CONVERSATION_ID,
  RESPONSE_ID,
  SAMPLE_TAPE,
} from '../../client/sample-tape.ts';
import {
  eventsAfter,
  NEVER,
  type ScriptedApi,
  startScriptedApi,
  streamText,
} from '../../client/scripted-api.ts';
import { type ScriptedTerminal, scriptTerminal } from '../scripted-terminal.ts';
import {
  APPROVE,
  ASKED,
  CANCEL,
  DEVICE_ID,
  newChat,
  newDevice,
  newKeys,
  requested,
} from './scripted-chat.ts';

const ELICITATION = {
  kind: 'elicitation' as const,
  tool: 'mcp_travel_book',
  server: 'travel',
  message: 'How do you travel?',
  number: 1,
  fields: [
    {
      type: 'choice' as const,
      name: 'seat',
      required: true,
      options: [
        { value: 'w', label: 'Window' },
        { value: 'a', label: 'Aisle' },
      ],
    },
    { type: 'integer' as const, name: 'bags', required: false, default: 1 },
  ],
};
const EDIT: Proposal = {
  kind: 'edit',
  tool: 'str_replace',
  path: 'src/a.ts',
  operation: 'edit',
  diff: [{ oldString: 'old', newString: 'new', startLine: 1, endLine: 1 }],
  beforeHash: 'b',
  afterHash: createHash('sha256').update('new\n').digest('hex'),
};
const RESOLVED: Extract<TapeEvent, { type: 'approval_resolved' }> = {
  type: 'approval_resolved',
  documentId: 'doc_002',
  callId: CALL_ID,
  decision: 'once',
  by: 'device',
};
/** The sample, with a question before the command's output. */
const ASKING_TAPE = SAMPLE_TAPE.toSpliced(8, 0, ASKED, RESOLVED);

describe('a prompt', () => {
  it('is answered on the screen, with exit code 0', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const terminal = scriptTerminal();
    expect(await runChat(newChat(api, terminal), ['Hé 👋'])).toBe(0);
    expect(terminal.screen()).toBe(
      'Grüße 👋\n\ndata: id: 7\n\n$ npm test\n  ok\n  1 passed\n  exit code 0\n\n' +
        '15 tokens (10 in, 5 out) · 2 turns · 1 tool call · 0.0 s\n',
    );
    expect(api.requests).toMatchObject([
      { body: { messages: [{ role: 'user', content: 'Hé 👋' }], mode: 'ask', model: 'demo' } },
    ]);
  });

  it('is what is piped in, when none is given', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    await runChat(newChat(api, scriptTerminal({ piped: 'From a pipe\n' })), []);
    expect(api.requests).toMatchObject([{ body: { messages: [{ content: 'From a pipe\n' }] } }]);
  });

  it('that is empty is a usage error', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const empty = runChat(newChat(api, scriptTerminal({ piped: ' \n' })), []);
    await expect(empty).rejects.toBeInstanceOf(UsageError);
  });

  it.each([
    { status: 'error', exitCode: 1 },
    { status: 'cancelled', exitCode: 130 },
  ] as const)(
    'whose answer ends as $status gives exit code $exitCode',
    async ({ status, exitCode }) => {
      const tape = SAMPLE_TAPE.map((event) =>
        event.type === 'done' ? { ...event, status } : event,
      );
      await using api = await startScriptedApi(tape);
      expect(await runChat(newChat(api, scriptTerminal()), ['Hi'])).toBe(exitCode);
    },
  );

  it('that is refused fails with the code of the refusal', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const body = { error: { code: 'CONVERSATION_BUSY', message: 'It is busy.' } };
    api.fates.push({ type: 'refuse', status: 409, body });
    const refused = runChat(newChat(api, scriptTerminal()), ['Hi']);
    await expect(refused).rejects.toMatchObject({
      name: 'ClientError',
      code: 'CONVERSATION_BUSY',
    });
  });
});

describe('a conversation in the terminal', () => {
  it('keeps to one conversation over several messages, until the input ends', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const terminal = scriptTerminal({ answers: ['One', '  ', 'Two', undefined] });
    expect(await runChat(newChat(api, terminal), [])).toBe(0);
    expect(api.requests.map(({ body }) => body)).toEqual([
      expect.not.objectContaining({ conversationId: expect.anything() }),
      expect.objectContaining({ conversationId: CONVERSATION_ID }),
    ]);
  });

  it('sends what follows "/mode NAME" in that mode, and says what the mode is', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const answers = [
      '/mode',
      '/mode plan',
      'One',
      '/mode Big one',
      '/mode own-mode',
      ' /modes',
      undefined,
    ];
    const terminal = scriptTerminal({ answers });
    expect(await runChat(newChat(api, terminal), [])).toBe(0);
    expect(api.requests.map(({ body }) => Object(body))).toMatchObject([
      { mode: 'plan', messages: [{ content: 'One' }] },
      { mode: 'own-mode', messages: [{ content: ' /modes' }] },
    ]);
    const screen = terminal.screen();
    expect(screen).toMatch(/Mode: ask\.\nMode: plan\.\n[\s\S]*Write \/mode and one name: agent, /);
  });

  it('sends no command that nothing knows, and a skill of the machine', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const skills = [{ name: 'review', callers: 'anyone' }];
    const bridge = { id: BRIDGE_ID, connected: true, workspacePath: '/work', definitions: {} };
    api.answers.set(`GET bridges/${BRIDGE_ID}`, { ...bridge, mcpServers: [], skills });
    const answers = ['/help', '/review src', '/etc/hosts is wrong', undefined];
    const terminal = scriptTerminal({ answers });
    const chat = { ...newChat(api, terminal), bridgeId: BRIDGE_ID };
    expect(await runChat(chat, [])).toBe(0);
    const sent = api.requests.flatMap(({ body }) => Object(body).messages ?? []);
    expect(sent).toMatchObject([{ content: '/review src' }, { content: '/etc/hosts is wrong' }]);
    expect(terminal.screen()).toContain('Nothing was sent: there is no such command here');
  });

  it('goes on after a message that was refused', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const body = { error: { code: 'INVALID_REQUEST', message: 'Too long.' } };
    api.fates.push({ type: 'refuse', status: 400, body });
    const terminal = scriptTerminal({ answers: ['One', 'Two', undefined] });
    expect(await runChat(newChat(api, terminal), [])).toBe(0);
    expect(terminal.screen()).toMatch(/error INVALID_REQUEST: Too long\.\n[\s\S]*15 tokens/);
  });
});

describe('an approval', () => {
  it.each([
    { typed: 'y', body: { nonce: 'n-1', decision: 'once', signature: { deviceId: DEVICE_ID } } },
    { typed: 'n not now', body: { nonce: 'n-1', decision: 'reject', message: 'not now' } },
  ])('is answered by $typed', async ({ typed, body }) => {
    await using api = await startScriptedApi(ASKING_TAPE);
    await answeredBy(api, APPROVE);
    const terminal = scriptTerminal({ answers: ['what?', typed] });
    const device = await newDevice();
    expect(await runChat(newChat(api, terminal, device), ['Hi'])).toBe(0);
    const [asked] = api.requests.filter(({ line }) => line === APPROVE);
    expect(asked?.body).toMatchObject(body);
    expect(terminal.questions).toHaveLength(2);
    expect(terminal.screen()).toContain('? run_terminal_cmd needs your approval: Commands ask.');
    expect(terminal.screen()).toContain('\nAllowed once here\n');
  });

  it.each([
    { typed: ['c', ''], isOwn: false, scope: 'conversation', pattern: 'npm test' },
    { typed: ['a', 'c', 'npm *'], isOwn: false, scope: 'conversation', pattern: 'npm *' },
    { typed: ['a', ''], isOwn: true, scope: 'always', pattern: 'npm test' },
    { typed: ['c', 'n\u200b*', 'n*'], isOwn: false, scope: 'conversation', pattern: 'n*' },
  ])('lasts by $typed, for the pattern that the person leaves', async (wanted) => {
    const { typed, isOwn, scope, pattern } = wanted;
    const asked: typeof ASKED = {
      ...ASKED,
      lasting: { pattern: 'npm test', always: false },
      proposal: {
        kind: 'command',
        tool: 'run_terminal_cmd',
        command: 'npm test',
        folder: '.',
        permissions: [],
        background: false,
        timeLimitMs: 1,
        confinement: 'bubblewrap',
      },
    };
    const tape = SAMPLE_TAPE.toSpliced(8, 0, asked, RESOLVED);
    await using api = await startScriptedApi(tape);
    await answeredBy(api, APPROVE, tape);
    const { device, publicKey } = await newKeys();
    const terminal = scriptTerminal({ answers: typed });
    const own = isOwn ? { own: { stateDir: '/nowhere', bridgeId: asked.bridgeId } } : {};
    expect(await runChat({ ...newChat(api, terminal, device), ...own }, ['Hi'])).toBe(0);
    const { body } = api.requests.find(({ line }) => line === APPROVE) ?? {};
    const { signature, ...answer } = ApprovalRequest.parse(body);
    expect(answer).toEqual({ nonce: asked.nonce, decision: 'once', scope, pattern });
    const question: ApprovalQuestion = { ...asked, conversationId: CONVERSATION_ID };
    const grant = { ...ALLOW_ONCE, scope, pattern };
    const text = new TextEncoder().encode(approvalText(question, grant));
    const bytes = Buffer.from(signature?.value ?? '', 'base64url');
    expect(await crypto.subtle.verify(DEVICE_ALGORITHM, publicKey, bytes, text)).toBe(true);
  });

  it('does not last for a pattern that is wider than what is shown', async () => {
    const asked: typeof ASKED = { ...ASKED, lasting: { pattern: '*', always: true } };
    const tape = SAMPLE_TAPE.toSpliced(8, 0, asked, RESOLVED);
    await using api = await startScriptedApi(tape);
    await answeredBy(api, APPROVE, tape);
    const terminal = scriptTerminal({ answers: ['a', 'c', 'y'] });
    expect(await runChat(newChat(api, terminal, await newDevice()), ['Hi'])).toBe(0);
    expect(terminal.questions[0]).not.toContain('in this conversation');
    const { body } = api.requests.find(({ line }) => line === APPROVE) ?? {};
    expect(body).not.toHaveProperty('scope');
  });

  it('of an edit takes the file as the person has changed it, and signs that', async () => {
    const edit: typeof ASKED = { ...ASKED, proposal: EDIT, newText: 'new\n' };
    const tape = SAMPLE_TAPE.toSpliced(8, 0, edit, RESOLVED);
    await using api = await startScriptedApi(tape);
    await answeredBy(api, APPROVE, tape);
    const { device, publicKey } = await newKeys();
    const terminal = scriptTerminal({ answers: ['e', 'n', 'e', ''] });
    const ask = terminal.ask;
    const changing: ScriptedTerminal = {
      ...terminal,
      ask: (question, signal) => {
        const [, file] = /save this file: (\S+)\n$/.exec(terminal.screen()) ?? [];
        if (file && question.startsWith('Enter')) writeFileSync(file, 'mine\n');
        return ask(question, signal);
      },
    };
    expect(await runChat(newChat(api, changing, device), ['Hi'])).toBe(0);
    const { body } = api.requests.find(({ line }) => line === APPROVE) ?? {};
    const { content, signature } = ApprovalRequest.parse(body);
    expect(content).toBe('mine\n');
    const question: ApprovalQuestion = { ...edit, conversationId: CONVERSATION_ID };
    const text = new TextEncoder().encode(approvalText(question, { ...ALLOW_ONCE, content }));
    const bytes = Buffer.from(signature?.value ?? '', 'base64url');
    expect(await crypto.subtle.verify(DEVICE_ALGORITHM, publicKey, bytes, text)).toBe(true);
    const [, file = ''] = /save this file: (\S+)\n$/.exec(terminal.screen()) ?? [];
    expect(existsSync(file)).toBe(false);
  });

  it('of a server is answered field by field, and the values are signed', async () => {
    const asked: typeof ASKED = { ...ASKED, proposal: ELICITATION };
    const tape = SAMPLE_TAPE.toSpliced(8, 0, asked, RESOLVED);
    await using api = await startScriptedApi(tape);
    await answeredBy(api, APPROVE, tape);
    const { device, publicKey } = await newKeys();
    const terminal = scriptTerminal({ answers: ['y', '3', '2', 'many', ''] });
    expect(await runChat(newChat(api, terminal, device), ['Hi'])).toBe(0);
    const { body } = api.requests.find(({ line }) => line === APPROVE) ?? {};
    const { content = '', signature } = ApprovalRequest.parse(body);
    expect(JSON.parse(content)).toEqual({ seat: 'a', bags: 1 });
    const question: ApprovalQuestion = { ...asked, conversationId: CONVERSATION_ID };
    const text = new TextEncoder().encode(approvalText(question, { ...ALLOW_ONCE, content }));
    const bytes = Buffer.from(signature?.value ?? '', 'base64url');
    expect(await crypto.subtle.verify(DEVICE_ALGORITHM, publicKey, bytes, text)).toBe(true);
    expect(terminal.screen()).toContain(
      '  The server travel asks you, and gets what you answer:\n',
    );
    expect(terminal.screen()).toContain('  1. Window\n  2. Aisle\n');
  });

  it('of an edit is not changed from another file than the proposed one', async () => {
    const edit: typeof ASKED = { ...ASKED, proposal: EDIT, newText: 'new, and a line more\n' };
    const tape = SAMPLE_TAPE.toSpliced(8, 0, edit, RESOLVED);
    await using api = await startScriptedApi(tape);
    await answeredBy(api, APPROVE, tape);
    const terminal = scriptTerminal({ answers: ['e', 'n'] });
    expect(await runChat(newChat(api, terminal, await newDevice()), ['Hi'])).toBe(0);
    expect(terminal.questions[0]).not.toContain('change it first');
    expect(terminal.screen()).not.toContain('save this file');
  });

  it('of a tool of a server can be given for good, at the machine of its bridge only', async () => {
    const offer = { server: 'tickets', tool: 'find', definition: 'a'.repeat(64) };
    const proposal = { kind: 'call', tool: 'mcp_tickets_find', arguments: {}, offer } as const;
    const lasting = { pattern: 'tickets/find', always: false };
    const tape = SAMPLE_TAPE.toSpliced(8, 0, { ...ASKED, proposal, lasting }, RESOLVED);
    await using api = await startScriptedApi(tape);
    await answeredBy(api, APPROVE, tape);
    const terminal = scriptTerminal({ answers: ['a'] });
    const own = { bridgeId: ASKED.bridgeId, stateDir: '/nowhere' };
    const chat = { ...newChat(api, terminal, await newDevice()), own };
    expect(await runChat(chat, ['Hi'])).toBe(0);
    expect(terminal.questions).toEqual([
      expect.stringContaining('a allows it from now on, until its definition changes'),
    ]);
    const { body } = api.requests.find(({ line }) => line === APPROVE) ?? {};
    expect(body).toMatchObject({ scope: 'always', pattern: 'tickets/find' });
    await using other = await startScriptedApi(tape);
    await answeredBy(other, APPROVE, tape);
    const elsewhere = scriptTerminal({ answers: ['a', 'y'] });
    expect(await runChat(newChat(other, elsewhere, await newDevice()), ['Hi'])).toBe(0);
    expect(elsewhere.questions[0]).not.toContain('from now on');
  });

  it('is withdrawn when somebody else answers it', async () => {
    await using api = await startScriptedApi(ASKING_TAPE);
    const terminal = scriptTerminal();
    const device = await newDevice();
    expect(await runChat(newChat(api, terminal, device), ['Hi'])).toBe(0);
    expect(api.requests.map(({ line }) => line)).not.toContain(APPROVE);
    expect(terminal.screen()).toContain('Allowed once on a device');
  });

  it('signs the question that it showed, although another one has come meanwhile', async () => {
    const second = { ...ASKED, nonce: 'n-2' };
    const void1: TapeEvent = { ...RESOLVED, decision: 'superseded', by: 'drawbridge' };
    const tape = SAMPLE_TAPE.toSpliced(8, 0, ASKED, void1, second, RESOLVED);
    await using api = await startScriptedApi(tape);
    const { promise: rest, resolve } = Promise.withResolvers<string>();
    api.fates.push({ type: 'text', text: streamText(eventsAfter(tape, 0).slice(0, 9)), rest });
    const { device, publicKey } = await newKeys();
    const terminal = scriptTerminal({ answers: ['y'] });
    api.onRequest = (line) => {
      if (line === APPROVE) resolve('');
    };
    expect(await runChat(newChat(api, terminal, device), ['Hi'])).toBe(0);
    const { body } = api.requests.find(({ line }) => line === APPROVE) ?? {};
    const { nonce, signature } = ApprovalRequest.parse(body);
    expect(nonce).toBe('n-1');
    const shown: ApprovalQuestion = { ...ASKED, conversationId: CONVERSATION_ID };
    const bytes = Buffer.from(signature?.value ?? '', 'base64url');
    const text = new TextEncoder().encode(approvalText(shown));
    expect(await crypto.subtle.verify(DEVICE_ALGORITHM, publicKey, bytes, text)).toBe(true);
  });

  it('without a terminal ends it with exit code 3, and says where it can be answered', async () => {
    await using api = await startScriptedApi(ASKING_TAPE);
    const text = streamText(eventsAfter(ASKING_TAPE, 0).slice(0, 9));
    api.fates.push({ type: 'text', text, rest: NEVER });
    const terminal = scriptTerminal({ piped: 'Hi' });
    expect(await runChat(newChat(api, terminal, await newDevice()), ['Hi'])).toBe(3);
    expect(terminal.screen()).toContain('The agent waits for your answer.');
  });

  it('without a key is left to others, and the screen says to whom', async () => {
    await using api = await startScriptedApi(ASKING_TAPE);
    const text = streamText(eventsAfter(ASKING_TAPE, 0).slice(0, 9));
    const terminal = scriptTerminal();
    const { promise: rest, resolve } = Promise.withResolvers<string>();
    api.fates.push({ type: 'text', text, rest });
    const { write } = terminal;
    const watched = {
      ...terminal,
      write: (written: string) => {
        write(written);
        if (written.includes('is not enrolled')) resolve('');
      },
    };
    expect(await runChat({ ...newChat(api, terminal, null), terminal: watched }, ['Hi'])).toBe(0);
    expect(terminal.questions).toEqual([]);
  });
});

describe('what the request says', () => {
  it('is what the options ask for', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } } as const;
    const options = { withReasoning: true, images: [image], mode: 'debug' as const };
    await runChat({ ...newChat(api, scriptTerminal()), ...options }, ['What', 'is it?']);
    const content = [{ type: 'text', text: 'What is it?' }, image];
    expect(api.requests).toMatchObject([
      { body: { messages: [{ content }], mode: 'debug', include: ['reasoning'] } },
    ]);
  });

  it('may be an image alone', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } } as const;
    const chat = { ...newChat(api, scriptTerminal({ piped: '' })), images: [image] };
    expect(await runChat(chat, [])).toBe(0);
    expect(api.requests).toMatchObject([{ body: { messages: [{ content: [image] }] } }]);
  });
});

/** The stream up to the answer's first words. */
const HALF = streamText(eventsAfter(SAMPLE_TAPE, 0).slice(0, 4));

describe('Ctrl-C', () => {
  it('cancels the run, and the answer ends as it really ended', async () => {
    const tape = SAMPLE_TAPE.map((event) =>
      event.type === 'done' ? { ...event, status: 'cancelled' as const } : event,
    );
    await using api = await startScriptedApi(tape);
    const terminal = scriptTerminal();
    api.answers.set(CANCEL, { id: RESPONSE_ID, status: 'cancelled' });
    api.fates.push({ type: 'text', text: HALF, rest: requested(api, CANCEL) });
    const chat = pressing(newChat(api, terminal), terminal, 'SIGINT', 'Grüße');
    expect(await runChat(chat, ['Hi'])).toBe(130);
    expect(terminal.screen()).toContain('Cancelling; Ctrl-C again leaves at once.');
    expect(terminal.screen()).toContain('Cancelled.');
  });

  it('a second time leaves at once', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const terminal = scriptTerminal();
    api.fates.push({ type: 'text', text: HALF, rest: NEVER }, { type: 'unanswered' });
    const chat = pressing(newChat(api, terminal), terminal, 'SIGINT', 'Grüße', 'Cancelling');
    expect(await runChat(chat, ['Hi'])).toBe(130);
  });

  it('says why the run could not be cancelled, in a line that cannot steer the terminal', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const terminal = scriptTerminal();
    const body = { error: { code: 'INTERNAL', message: '\u001b]0;x\u0007\nNo.' } };
    const rest = requested(api, CANCEL);
    api.fates.push({ type: 'text', text: HALF, rest }, { type: 'refuse', status: 500, body });
    await runChat(pressing(newChat(api, terminal), terminal, 'SIGINT', 'Grüße'), ['Hi']);
    expect(terminal.screen()).toContain(
      'The answer could not be cancelled: error INTERNAL: ␛]0;x␇ No.\n',
    );
  });

  it('before the server has answered leaves', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const terminal = scriptTerminal();
    api.fates.push({ type: 'unanswered' });
    api.onRequest = () => terminal.interrupt();
    expect(await runChat(newChat(api, terminal), ['Hi'])).toBe(130);
  });
});

describe('SIGTERM', () => {
  it('cancels the run, and leaves once that is known', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const terminal = scriptTerminal();
    api.answers.set(CANCEL, { id: RESPONSE_ID, status: 'cancelled' });
    api.fates.push({ type: 'text', text: HALF, rest: NEVER });
    const chat = pressing(newChat(api, terminal), terminal, 'SIGTERM', 'Grüße');
    expect(await runChat(chat, ['Hi'])).toBe(143);
    expect(api.requests.map(({ line }) => line)).toContain(CANCEL);
  });

  it('is distinguished from Ctrl-C where the run ends first', async () => {
    const tape = SAMPLE_TAPE.map((event) =>
      event.type === 'done' ? { ...event, status: 'cancelled' as const } : event,
    );
    await using api = await startScriptedApi(tape);
    const terminal = scriptTerminal();
    api.fates.push({ type: 'text', text: HALF, rest: requested(api, CANCEL) });
    api.fates.push({ type: 'unanswered' });
    const chat = pressing(newChat(api, terminal), terminal, 'SIGTERM', 'Grüße');
    expect(await runChat(chat, ['Hi'])).toBe(143);
    expect(terminal.screen()).toContain('Cancelled.');
  });

  it('leaves without knowing where the server does not answer', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const terminal = scriptTerminal();
    api.fates.push({ type: 'text', text: HALF, rest: NEVER }, { type: 'unanswered' });
    const chat = pressing(newChat(api, terminal), terminal, 'SIGTERM', 'Grüße');
    expect(await runChat(chat, ['Hi'])).toBe(143);
  });
});

describe('a reader of the output who leaves', () => {
  it('ends the command and not the run', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const terminal = scriptTerminal();
    api.fates.push({ type: 'text', text: HALF, rest: NEVER });
    const chat = pressing(newChat(api, terminal), terminal, 'unread', 'Grüße');
    expect(await runChat(chat, ['Hi'])).toBe(141);
    expect(api.requests).toHaveLength(1);
  });

  it('does not keep Ctrl-C from cancelling a run', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const terminal = scriptTerminal();
    api.fates.push({ type: 'text', text: HALF, rest: NEVER });
    api.answers.set(CANCEL, { id: RESPONSE_ID, status: 'cancelled' });
    const pipeline = pressing(newChat(api, terminal), terminal, 'SIGINT', 'Grüße');
    const chat = pressing(pipeline, terminal, 'unread', 'Cancelling');
    expect(await runChat(chat, ['Hi'])).toBe(141);
    expect(api.requests.map(({ line }) => line)).toContain(CANCEL);
  });
});

/** The chat, with a signal sent as soon as each of the words stands on the screen. */
function pressing(
  chat: Chat,
  terminal: ScriptedTerminal,
  signal: EndSignal,
  ...words: string[]
): Chat {
  const write = (text: string) => {
    chat.terminal.write(text);
    if (words[0] !== undefined && text.includes(words[0])) {
      words.shift();
      setImmediate(() => terminal.interrupt(signal));
    }
  };
  return { ...chat, terminal: { ...chat.terminal, write } };
}

/** The stream stops at the question until it is answered. */
async function answeredBy(
  api: ScriptedApi,
  line: string,
  tape: readonly TapeEvent[] = ASKING_TAPE,
): Promise<void> {
  const text = streamText(eventsAfter(tape, 0).slice(0, 9));
  api.answers.set(line, { callId: CALL_ID });
  api.fates.push({ type: 'text', text, rest: requested(api, line) });
}

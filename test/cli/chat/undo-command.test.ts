import { describe, expect, it } from 'vitest';
import { forkWithFiles, undo } from '../../../cli/chat/undo-command.ts';
import { parseResponseId, responseIdOf } from '../../../shared/ids.ts';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import { CONVERSATION_ID, RESPONSE_ID, SAMPLE_TAPE } from '../../client/sample-tape.ts';
import { startScriptedApi } from '../../client/scripted-api.ts';
import { callDrawbridge } from '../called.ts';
import { scriptTerminal } from '../scripted-terminal.ts';
import { newChat } from './scripted-chat.ts';

const [MESSAGE, START] = SAMPLE_TAPE as [TapeEvent, TapeEvent];
const FILES = [{ path: 'a.txt', action: 'restore' }];
const ASKED = { yes: false, preview: false };
const EMPTY = { errorCode: 'NOTHING_TO_UNDO' };
type Done = Extract<TapeEvent, { type: 'done' }>;
const LAST = { scope: 'last' } as const;

describe('undo', () => {
  it('shows what would change, asks, and changes exactly that', async () => {
    await using api = await startScriptedApi(tapeOf(FILES));
    const terminal = scriptTerminal({ answers: ['y'] });
    expect(await undo(chatOf(api, terminal), ASKED, LAST)).toBe(0);
    const line = `POST conversations/${CONVERSATION_ID}/undo`;
    expect(api.requests).toEqual([
      { line, body: { scope: 'last', preview: true, stream: true } },
      { line, body: { scope: 'last', digest: 'd1', stream: true } },
    ]);
    expect(terminal.questions).toEqual(['Change these files? y or n: ']);
  });

  it('changes nothing after a no, for a preview, and where nothing can be changed', async () => {
    await using api = await startScriptedApi(tapeOf(FILES));
    const no = undo(chatOf(api, scriptTerminal({ answers: ['n'] })), ASKED, LAST);
    await expect(no).rejects.toThrow('Nothing was changed.');
    const looking = { yes: false, preview: true };
    expect(await undo(chatOf(api, scriptTerminal()), looking, LAST)).toBe(0);
    await using kept = await startScriptedApi(tapeOf([{ path: 'a.txt', action: 'keep' }]));
    expect(await undo(chatOf(kept, scriptTerminal()), ASKED, LAST)).toBe(0);
    const bodies = [...api.requests, ...kept.requests].map(({ body }) => Object(body).preview);
    expect(bodies).toEqual([true, true, true]);
  });

  it('asks nothing with --yes, and needs it without a terminal', async () => {
    await using api = await startScriptedApi(tapeOf(FILES));
    const target = ['--conversation', CONVERSATION_ID, '--url', api.url, '--token', 'token'];
    expect((await callDrawbridge(['redo', ...target])).code).toBe(2);
    const made = await callDrawbridge(['undo', '--since', RESPONSE_ID, '--yes', ...target]);
    expect(made.code).toBe(0);
    expect(api.requests.at(-1)?.body).toEqual({ scope: 'since', id: RESPONSE_ID, stream: true });
  });
});

describe('fork with its files', () => {
  it('shows what would change, asks, forks with exactly that and shows what became of it', async () => {
    await using api = await startScriptedApi(tapeOf(FILES));
    const made = { conversationId: CONVERSATION_ID, responseId: RESPONSE_ID };
    const path = `POST conversations/${CONVERSATION_ID}/forks`;
    api.answers.set(path, made);
    const terminal = scriptTerminal({ answers: ['y'] });
    expect(await forkWithFiles(chatOf(api, terminal), RESPONSE_ID)).toBe(0);
    const { conversationId, ordinal } = parseResponseId(RESPONSE_ID);
    const id = responseIdOf(conversationId, ordinal + 1);
    expect(api.requests.slice(0, 2)).toEqual([
      {
        line: `POST conversations/${CONVERSATION_ID}/undo`,
        body: { scope: 'since', id, preview: true, stream: true },
      },
      { line: path, body: { responseId: RESPONSE_ID, files: 'restore', digest: 'd1' } },
    ]);
    expect(api.requests.at(-1)?.line).toContain(`GET chat/completions/${RESPONSE_ID}/events`);
  });

  it('says that no file was changed since, and shows no failure', async () => {
    const failed = { type: 'document_end', documentId: 'doc_001', metadata: EMPTY } as const;
    const said = { id: 'doc_002', type: 'text', sequence: 2 } as const;
    const [message, start, tool, , done] = tapeOf([]) as [
      TapeEvent,
      TapeEvent,
      TapeEvent,
      null,
      Done,
    ];
    await using api = await startScriptedApi([
      ...[message, start, tool, failed],
      { type: 'document_start', document: said },
      { type: 'content_delta', documentId: 'doc_002', delta: 'Nothing was undone.' },
      { type: 'document_end', documentId: 'doc_002', metadata: {} },
      { ...done, status: 'error' },
    ]);
    const path = `POST conversations/${CONVERSATION_ID}/forks`;
    api.answers.set(path, { conversationId: CONVERSATION_ID });
    const terminal = scriptTerminal();
    expect(await forkWithFiles(chatOf(api, terminal), RESPONSE_ID)).toBe(0);
    expect(terminal.screen()).toBe('No file was changed since.\n');
    expect(api.requests.at(-1)).toEqual({ line: path, body: { responseId: RESPONSE_ID } });
  });

  it('forks nothing after a no', async () => {
    await using api = await startScriptedApi(tapeOf(FILES));
    const no = forkWithFiles(chatOf(api, scriptTerminal({ answers: ['n'] })), RESPONSE_ID);
    await expect(no).rejects.toThrow('Nothing was forked.');
    expect(api.requests).toHaveLength(1);
  });
});

function chatOf(api: { readonly url: string }, terminal: ReturnType<typeof scriptTerminal>) {
  return {
    ...newChat(api as Parameters<typeof newChat>[0], terminal),
    conversationId: CONVERSATION_ID,
  };
}

function tapeOf(files: readonly object[]): TapeEvent[] {
  const metadata = { undo: { digest: 'd1', files } };
  return [
    MESSAGE,
    START,
    { type: 'document_start', document: { id: 'doc_001', type: 'tool_call', sequence: 1 } },
    { type: 'document_end', documentId: 'doc_001', metadata },
    {
      type: 'done',
      responseId: RESPONSE_ID,
      status: 'completed',
      usage: null,
      metadata: { duration_ms: 0, toolCallCount: 1, turnCount: 1 },
    },
  ];
}

/** `conversations/{id}/export`: streams a conversation as a file. */
import { ConversationExport, ExportQuery } from '../../shared/api/conversations.ts';
import type { ConversationView } from '../../shared/wire/documents.ts';
import { inTurns } from '../account/heavy-work.ts';
import { readDocument } from '../conversation/reading/requests.ts';
import type { Chapter } from '../conversation/reading/views.ts';
import { parse } from '../desk/parse.ts';
import { describeQuery, type Endpoint } from '../endpoint.ts';
import type { Env } from '../env.ts';
import { attachmentNamed } from '../export/file-name.ts';
import { jsonOf } from '../export/json.ts';
import { markdownOf } from '../export/markdown.ts';
import { accountOf } from '../objects.ts';
import type { Caller } from '../ports/conversation.ts';
import { reach } from '../reach.ts';
import { CONVERSATION_PARAMS, CONVERSATIONS, callerOf } from './path.ts';

/** The endpoint of this file. */
export const EXPORT: readonly Endpoint[] = [
  {
    id: 'exportConversation',
    needs: 'read',
    method: 'get',
    path: `${CONVERSATIONS}/{id}/export`,
    tag: 'Conversations',
    summary: 'Download a conversation',
    access: 'user',
    params: CONVERSATION_PARAMS,
    query: describeQuery({
      schema: ExportQuery,
      described: { format: { description: '`json` is for programs, `markdown` for people.' } },
    }),
    answers: [
      {
        status: 200,
        description: 'The file.',
        headers: { 'Content-Disposition': 'A file name made from the title.' },
        content: [
          { type: 'application/json', schema: ConversationExport },
          { type: 'text/markdown' },
        ],
      },
    ],
    handle: async (c) => {
      const caller = callerOf(c);
      const { format } = parse(ExportQuery, c.req.query());
      return await exportConversation(c.env, caller, format);
    },
  },
];

/**
 * Exports the conversation as it is now, even if it goes on while a slow client reads: later chapters end at the
 * current position of the tape. The file holds an unfinished run as it is. One exception: a waiting message
 * that is edited during the export may appear with its new text. If the conversation is deleted during the export, the
 * body breaks off with an error.
 */
async function exportConversation(
  env: Env,
  caller: Caller,
  format: 'json' | 'markdown',
): Promise<Response> {
  const opened = await readDocument(env, caller, {
    type: 'chapter',
    from: { ordinal: 1, until: null },
  });
  if (!opened.ok) return opened;
  const { account, conversationId: subject, session } = caller;
  const act = { action: 'conversation_exported', subject, session } as const;
  await reach<void>(() => accountOf(env, account).record(act));
  const first = await opened.json<Chapter>();
  const { view: conversation } = first;
  const views = () => viewsFrom(env, caller, first);
  if (format === 'markdown') {
    return fileOf(inTurns(account, markdownOf(views())), {
      'content-type': 'text/markdown; charset=utf-8',
      'content-disposition': attachmentNamed(conversation.title, 'md'),
    });
  }
  const exported = new Date().toISOString();
  return fileOf(inTurns(account, jsonOf({ exported, conversation }, views)), {
    'content-type': 'application/json',
    'content-disposition': attachmentNamed(conversation.title, 'json'),
  });
}

/** All views of the conversation. Reads each chapter only when the previous one was written. */
export async function* viewsFrom(
  env: Env,
  caller: Caller,
  { view, next }: Chapter,
): AsyncGenerator<ConversationView> {
  yield view;
  for (let ordinal = next; ordinal !== null; ) {
    const answer = await readDocument(env, caller, {
      type: 'chapter',
      from: { ordinal, until: view.position },
    });
    if (!answer.ok) throw new Error(`a chapter was refused with ${answer.status}`);
    const chapter = await answer.json<Chapter>();
    yield chapter.view;
    ordinal = chapter.next;
  }
}

/** Takes each text only when the client has read the one before. */
export function fileOf(texts: AsyncGenerator<string>, headers: Record<string, string>): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await texts.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      async cancel() {
        await texts.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers });
}

/** `conversations/{id}/export`: a conversation as a file, which is written while it is read. */
import type { ConversationView } from '../../shared/documents.ts';
import { readChapter } from '../conversation/reading/requests.ts';
import type { Chapter } from '../conversation/reading/views.ts';
import type { Env } from '../env.ts';
import { attachmentNamed } from '../export/file-name.ts';
import { jsonOf } from '../export/json.ts';
import { markdownOf } from '../export/markdown.ts';
import type { Caller } from '../ports.ts';

/**
 * The conversation as it stands now, also where it goes on while a slow client reads: what its later chapters tell ends
 * where its tape ends now. What is at work is in it, unfinished; only a message that is changed while it waits can
 * say its new words. Where the conversation is deleted meanwhile, the body breaks off with an error.
 */
export async function exportConversation(
  env: Env,
  caller: Caller,
  format: 'json' | 'markdown',
): Promise<Response> {
  const opened = await readChapter(env, caller, { ordinal: 1, until: null });
  if (!opened.ok) return opened;
  const first = await opened.json<Chapter>();
  const { view: conversation } = first;
  const views = () => viewsFrom(env, caller, first);
  if (format === 'markdown') {
    return fileOf(markdownOf(views()), {
      'content-type': 'text/markdown; charset=utf-8',
      'content-disposition': attachmentNamed(conversation.title, 'md'),
    });
  }
  const exported = new Date().toISOString();
  return fileOf(jsonOf({ exported, conversation }, views), {
    'content-type': 'application/json',
    'content-disposition': attachmentNamed(conversation.title, 'json'),
  });
}

/** All of the conversation. Each chapter is asked for when the one before it was written. */
async function* viewsFrom(
  env: Env,
  caller: Caller,
  { view, next }: Chapter,
): AsyncGenerator<ConversationView> {
  yield view;
  for (let ordinal = next; ordinal !== null; ) {
    const answer = await readChapter(env, caller, { ordinal, until: view.position });
    if (!answer.ok) throw new Error(`a chapter was refused with ${answer.status}`);
    const chapter = await answer.json<Chapter>();
    yield chapter.view;
    ordinal = chapter.next;
  }
}

/** The texts are asked for as fast as the client takes them. */
function fileOf(texts: AsyncGenerator<string>, headers: Record<string, string>): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await texts.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await texts.return(undefined);
    },
  });
  return new Response(body, { headers });
}

/** Writes a conversation as JSON, for programs. Holds one view at a time. */
import type { ConversationExport } from '../../shared/api/conversations.ts';

type Exported = ConversationExport['conversation'];

/** The fields of the export beside messages and responses. */
export interface ExportHead extends Pick<ConversationExport, 'exported'> {
  readonly conversation: Omit<Exported, 'messages' | 'responses'>;
}

/** The text of a ConversationExport, part by part. `views` is called twice, for messages and for responses. */
export async function* jsonOf(
  { exported, conversation }: ExportHead,
  views: () => AsyncIterable<Exported>,
): AsyncGenerator<string> {
  const { id, title, archived, created, bridgeId } = conversation;
  const described = { id, title, archived, created, bridgeId };
  const head = JSON.stringify({ version: 1, exported, conversation: described });
  yield `${head.slice(0, -'}}'.length)},"messages":[`;
  yield* items(views(), ({ messages }) => messages);
  yield '],"responses":[';
  yield* items(views(), ({ responses }) => responses);
  yield ']}}';
}

/** The picked items of all views, as the inside of one array. */
async function* items(
  views: AsyncIterable<Exported>,
  pick: (view: Exported) => readonly unknown[],
): AsyncGenerator<string> {
  let separator = '';
  for await (const view of views) {
    const texts = pick(view).map((item) => JSON.stringify(item));
    if (texts.length === 0) continue;
    yield separator + texts.join(',');
    separator = ',';
  }
}

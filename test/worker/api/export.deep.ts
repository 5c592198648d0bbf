import { expect, it } from 'vitest';
import { ConversationExport } from '../../../shared/api/conversations.ts';
import { CONVERSATION_LIMITS } from '../../../shared/limits.ts';
import { call, chat, scriptModel } from '../api.ts';
import { writeLong } from '../conversation/long-conversation.ts';

it('gives all of a long conversation, as it stood when the export began', async () => {
  const { maxShownBytes } = CONVERSATION_LIMITS;
  const long = await writeLong(40, () => maxShownBytes / 6);
  const { account, conversationId } = long;
  const path = `conversations/${conversationId}/export`;
  const [json, markdown] = [await call(path, long), await call(`${path}?format=markdown`, long)];
  scriptModel(() => ({ text: 'And on.' }));
  await chat('More', { account, conversationId });
  const { conversation } = ConversationExport.parse(await json.json());
  expect(conversation.messages.map(({ content }) => content)).toEqual(numbered('Question'));
  const answers = conversation.responses.map(({ documents }) => documents[0]?.content ?? '');
  expect(answers.map((text) => text.replace(/ x+$/, ''))).toEqual(numbered('Answer'));
  const text = await markdown.text();
  expect(text.match(/^(> Question|Answer) \d+/gm)).toEqual(
    numbered('Answer').flatMap((answer) => [answer.replace('Answer', '> Question'), answer]),
  );
  expect(text).not.toContain('And on.');
});

function numbered(word: string): string[] {
  return Array.from({ length: 40 }, (_, index) => `${word} ${index + 1}`);
}

import { expect, it } from 'vitest';
import { newConversationId, responseIdOf } from '../../../shared/ids.ts';
import type { ConversationView } from '../../../shared/wire/documents.ts';
import { newestSaid } from '../../../worker/conversation/listing.ts';

const ID = newConversationId('00000000-0000-4000-8000-000000000000');

it('the newest words come last, and no more views are read than it takes', () => {
  const read: number[] = [];
  function* back(): Generator<ConversationView> {
    for (const ordinal of [5, 4, 3, 2, 1]) {
      read.push(ordinal);
      yield viewOf(ordinal);
    }
  }
  expect(newestSaid(back(), 10)).toBe('said 4\nsaid 5\n');
  expect(read).toEqual([5, 4]);
  expect(newestSaid(back(), 1_000)).toBe('said 1\nsaid 2\nsaid 3\nsaid 4\nsaid 5\n');
});

function viewOf(ordinal: number): ConversationView {
  const created = '2026-11-20T12:00:00.000Z';
  return {
    id: ID,
    title: 'T',
    archived: false,
    created,
    bridgeId: null,
    messages: [{ responseId: responseIdOf(ID, ordinal), content: `said ${ordinal}`, created }],
    responses: [],
    earlier: null,
    position: 0,
  };
}

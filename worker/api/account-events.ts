/** `events`: streams what changes in the account. */
import { AccountEvent } from '../../shared/api/account-events.ts';
import { formatEvent } from '../../shared/api/sse.ts';
import { personOf } from '../account/caller.ts';
import type { Endpoint } from '../endpoint.ts';
import { follow } from '../follow/follow.ts';
import { cursorOf, EVENTS_QUERY, EVENTS_SOCKET, eventsQuery, LAST_EVENT_ID } from './events.ts';
import { CONVERSATION_ID } from './examples.ts';

/** The path of the account's stream. */
export const ACCOUNT_EVENTS_PATH = '/api/v1/events';

const EXAMPLES = {
  named: { summary: 'An answer has finished', value: exampleOf() },
} as const;

/** The endpoint of this file. */
export const ACCOUNT_EVENTS: readonly Endpoint[] = [
  {
    id: 'followAccount',
    needs: 'read',
    method: 'get',
    path: ACCOUNT_EVENTS_PATH,
    tag: 'Account',
    summary: 'Follow the conversations and bridges of the account',
    description:
      'Begins with what changed after the cursor, each in its present state. Without a cursor, or with one that is too old, begins with `reset` instead: read the lists then. Goes on until the client leaves.',
    access: 'stream',
    query: EVENTS_QUERY,
    headers: [LAST_EVENT_ID],
    answers: [
      EVENTS_SOCKET,
      {
        status: 200,
        description: 'The changes.',
        content: [{ type: 'text/event-stream', events: AccountEvent, examples: EXAMPLES }],
      },
    ],
    handle: async (c) => {
      const { framing, after } = eventsQuery(c);
      const caller = personOf(c);
      const cursor = cursorOf(c, after);
      return await follow(c.req.raw, c.env, { caller, responseId: null, framing, cursor });
    },
  },
];

function exampleOf(): string {
  const conversation = {
    id: CONVERSATION_ID,
    title: 'What does main.py print?',
    archived: false,
    created: '2026-11-01T09:30:00.000Z',
    updated: '2026-11-01T09:30:01.000Z',
    bridgeId: null,
    running: true,
    subagents: false,
    waiting: { approvals: 0, questions: 0 },
  };
  return (
    formatEvent({ type: 'reset' }, 41, 'named') +
    formatEvent({ type: 'conversation', conversation }, 42, 'named')
  );
}

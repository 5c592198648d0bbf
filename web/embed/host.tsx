/** What a thread gets from an element in the page of an app: the app's token, and no device that could approve. */
import { ClientError, type ClientOptions, createAppClient } from '../../client/index.ts';
import { Live } from '../live.ts';
import { Outbox } from '../store/outbox.ts';
import type { ThreadHost } from '../store/thread-host.ts';
import { words } from '../words/thread.ts';

interface HostOptions {
  readonly server: string;
  /** The token that the element has at this moment. */
  token(): ClientOptions['token'];
  /** Shows why the app gave no token; an empty text once it did. */
  onToken(problem: string): void;
  /** Shows why something was refused; an empty text before each attempt. */
  onRefusal(problem: string): void;
}

/** The token is asked for with each request, so another one counts at once. Ends with its outbox. */
export function newHost({ server, token, onToken, onRefusal }: HostOptions): ThreadHost {
  const live = new Live();
  const client = createAppClient({
    url: server,
    token: async (refused, signal) => {
      try {
        const source = token();
        const given = typeof source === 'string' ? source : await source(refused, signal);
        onToken('');
        return given;
      } catch (error) {
        signal?.throwIfAborted();
        onToken(messageOf(error));
        // It is no refusal of the server: the client asks again.
        throw new ClientError('UNREACHABLE', messageOf(error), { cause: error });
      }
    },
    openSocket: (url) => new WebSocket(url),
  });
  const outbox = new Outbox(client, live);
  return {
    client,
    live,
    outbox,
    again: ({ id }, { content }) =>
      outbox.send({ messages: [{ role: 'user', content }], conversationId: id }),
    change: (_, { content, responseId }) => client.editMessage(responseId, { content }),
    Approval: () => <p class="waits">{words.waitsElsewhere}</p>,
    Subagent: ({ subagent: { type, status } }) => (
      <>
        {type} · {words.status[status] ?? status}
      </>
    ),
    run: (work) => {
      onRefusal('');
      work().catch((error: unknown) => onRefusal(messageOf(error)));
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What runs in the page of the browser test: the client, and a browser's own EventSource. */
import { type ChatInput, createClient, createDevice, readEnrolment } from '../../client/index.ts';

export interface Connection {
  readonly url: string;
  readonly token: string;
}

export interface Streamed {
  readonly responseId: string;
  readonly conversationId: string;
  readonly text: string;
}

/** Sends a message and reads the stream of its answer. */
export async function streamAnswer(connection: Connection, content: string): Promise<Streamed> {
  const request: ChatInput = { messages: [{ role: 'user', content }] };
  let streamed: Streamed = { responseId: '', conversationId: '', text: '' };
  for await (const { event } of createClient(connection).streamChat(request)) {
    if (event.type === 'response_start') {
      const { id: responseId, conversationId } = event.response;
      streamed = { ...streamed, responseId, conversationId };
    }
    if (event.type === 'content_delta') {
      streamed = { ...streamed, text: streamed.text + event.delta };
    }
  }
  return streamed;
}

/** Reads a response's text once more, with the reader that a browser brings: it can send no token. */
export async function followByTicket(connection: Connection, responseId: string): Promise<string> {
  const { ticket } = await createClient(connection).createTicket({ responseId });
  return await readWith(ticket, connection, responseId);
}

/** The text of a response by its ticket. Rejects when the browser does not let the page read it. */
export async function readWith(
  ticket: string,
  { url }: Pick<Connection, 'url'>,
  responseId: string,
): Promise<string> {
  const path = `/api/v1/chat/completions/${responseId}/events`;
  const source = new EventSource(`${url}${path}?ticket=${ticket}`);
  return await new Promise<string>((resolve, reject) => {
    let text = '';
    source.addEventListener('content_delta', (event) => {
      if (event instanceof MessageEvent) text += JSON.parse(event.data).delta;
    });
    source.addEventListener('done', () => resolve(text));
    source.addEventListener('error', () => reject(new Error('The stream failed.')));
  }).finally(() => source.close());
}

export async function listTitles(connection: Connection): Promise<string[]> {
  const { items } = await createClient(connection).listConversations({ limit: 10 });
  return items.map(({ title }) => title);
}

/** Why a request fails, or null when it does not. */
export async function failureOf(connection: Connection): Promise<string | null> {
  return await createClient(connection)
    .getMe()
    .then(() => null)
    .catch((error: unknown) => `${Object(error).code}: ${Object(error).message}`);
}

/** Enrols a device of this page by what `drawbridge enrol` prints, and allows with it what the agent asks. */
export async function enrolAndAllow(
  connection: Connection,
  printed: string,
  content: string,
): Promise<void> {
  const client = createClient(connection);
  const { device, enrolment } = await createDevice('page');
  const secret = readEnrolment(printed);
  if (!secret) throw new Error(`no secret: ${printed}`);
  await client.enrolDevice(secret, enrolment);
  let conversationId = '';
  for await (const { event } of client.streamChat({ messages: [{ role: 'user', content }] })) {
    if (event.type === 'response_start') conversationId = event.response.conversationId;
    if (event.type === 'approval_request')
      await client.allowCall({ ...event, conversationId }, device);
  }
}

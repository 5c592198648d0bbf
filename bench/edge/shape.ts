/**
 * The least that Drawbridge's shape can cost: an object with storage asks the model, and passes on what it reads over a
 * hibernatable WebSocket to the Worker, which streams it to the client. Nothing is understood or stored on the way.
 */
import { DurableObject, waitUntil } from 'cloudflare:workers';

interface Env {
  readonly OPENAI_BASE_URL: string;
  readonly SHAPES: DurableObjectNamespace<Shape>;
}

export class Shape extends DurableObject<Env> {
  override async fetch(request: Request): Promise<Response> {
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    const body = new URL(request.url).searchParams.get('body') ?? '';
    waitUntil(this.#pass(body, server));
    return new Response(null, { status: 101, webSocket: client });
  }

  async #pass(body: string, socket: WebSocket): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const url = `${this.env.OPENAI_BASE_URL}/chat/completions`;
    const answer = await fetch(url, { method: 'POST', headers, body });
    const decoder = new TextDecoder();
    for await (const bytes of answer.body ?? []) {
      socket.send(decoder.decode(bytes as Uint8Array, { stream: true }));
    }
    socket.close(1000);
  }
}

export default {
  async fetch(request, env) {
    if (request.method === 'GET') return new Response('healthy');
    const stub = env.SHAPES.get(env.SHAPES.newUniqueId());
    const headers = { upgrade: 'websocket' };
    // A request for a WebSocket has no body.
    const query = new URLSearchParams({ body: await request.text() });
    const { webSocket } = await stub.fetch(`https://shape?${query}`, { headers });
    if (!webSocket) throw new Error('The object gave no socket.');
    const { readable, writable } = new IdentityTransformStream();
    const writer = writable.getWriter();
    const encoder = new TextEncoder();
    webSocket.addEventListener('message', ({ data }) => {
      void writer.write(encoder.encode(String(data)));
    });
    webSocket.addEventListener('close', () => void writer.close());
    webSocket.accept();
    return new Response(readable, { headers: { 'content-type': 'text/event-stream' } });
  },
} satisfies ExportedHandler<Env>;

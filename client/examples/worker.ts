/** A Worker that passes a question on to the agent and streams the answer as plain text: `curl -d 'Hello' <its URL>`. */
import { ClientError, createClient } from 'drawbridge-client';

interface Env {
  readonly DRAWBRIDGE_URL: string;
  /** A secret: `wrangler secret put DRAWBRIDGE_TOKEN`. */
  readonly DRAWBRIDGE_TOKEN: string;
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const client = createClient({ url: env.DRAWBRIDGE_URL, token: env.DRAWBRIDGE_TOKEN });
    const content = await request.text();
    const leaving = new AbortController();
    const options = { signal: leaving.signal };
    const events = client.streamChat({ messages: [{ role: 'user', content }] }, options);
    const encoder = new TextEncoder();
    // The client reads no faster than this stream is read.
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          for (let next = await events.next(); !next.done; next = await events.next()) {
            const { event } = next.value;
            if (event.type !== 'content_delta') continue;
            controller.enqueue(encoder.encode(event.delta));
            return;
          }
        } catch (error) {
          const code = error instanceof ClientError ? error.code : 'INTERNAL';
          controller.enqueue(encoder.encode(`\n[${code}]\n`));
        }
        controller.close();
      },
      cancel: (reason) => leaving.abort(reason),
    });
    return new Response(body, { headers: { 'content-type': 'text/plain; charset=utf-8' } });
  },
};

/** The least that a Worker can do between a client and a model: the reference for Drawbridge's own cost. */

interface Env {
  readonly OPENAI_BASE_URL: string;
}

export default {
  async fetch(request, env) {
    if (request.method === 'GET') return new Response('healthy');
    const { body, headers } = await fetch(`${env.OPENAI_BASE_URL}/chat/completions`, {
      method: 'POST',
      headers: request.headers,
      body: request.body,
    });
    return new Response(body, { headers });
  },
} satisfies ExportedHandler<Env>;

// The page of a web app: its backend (app.ts) makes the tokens. The page's origin must be among the key's origins.
import { ClientError, createClient } from 'drawbridge-client';

const byId = (id) => document.getElementById(id);
let known = await askBackend();

async function askBackend() {
  const answer = await fetch('/agent-token', { method: 'POST' });
  if (!answer.ok) throw new Error(await answer.text());
  return await answer.json();
}

const client = createClient({
  url: known.url,
  // The client asks again with the token that the server has refused: it has ended.
  async token(refused) {
    if (refused === known.token) known = await askBackend();
    return known.token;
  },
});

byId('ask').addEventListener('submit', async (event) => {
  event.preventDefault();
  const content = new FormData(event.target).get('content');
  byId('answer').textContent = '';
  try {
    for await (const { event: news } of client.streamChat({
      messages: [{ role: 'user', content }],
    })) {
      if (news.type === 'content_delta') byId('answer').append(news.delta);
    }
    byId('status').textContent = 'done';
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    byId('status').textContent = `${error.code}: ${error.message}`;
  }
  await list();
});
byId('send').disabled = false;

async function list() {
  const { items } = await client.listConversations();
  byId('conversations').replaceChildren(
    ...items.map(({ title }) =>
      Object.assign(document.createElement('li'), { textContent: title }),
    ),
  );
}

await list();

/** The page that a browser gets at `/`. It is the same for everyone, and has no script. */
import type { MiddlewareHandler } from 'hono';
import { html } from 'hono/html';
import type { AppContext } from '../account/caller.ts';
import { originOf } from '../origin.ts';

/** Answers a browser; any other client goes on to the API's own answer for an unknown path. */
export const frontPage: MiddlewareHandler<AppContext> = async (c, next) => {
  if (!c.req.header('accept')?.includes('text/html')) return await next();
  return c.html(pageFor(originOf(c)), 200, HEADERS);
};

/** Nothing may load or run, and no other page may show this one in a frame. */
const HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  vary: 'accept',
};

function pageFor(origin: string) {
  return html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Drawbridge</title>
<h1>Drawbridge</h1>
<p>A coding agent behind an API. Conversations live here; files and commands stay on the machine
where its bridge runs.</p>
<h2>From a terminal</h2>
<p>On the machine with the code, <code>drawbridge chat</code> talks to the agent. From another
machine:</p>
<pre>drawbridge login LINK
drawbridge chat --url ${origin}</pre>
<p><code>LINK</code> is that of an invitation: of this page, if its address has one.
<code>drawbridge connect ${origin}</code> connects a folder.</p>
<h2>From an editor</h2>
<p><code>drawbridge ide</code> shows edits in your editor.
<code>drawbridge companion</code> lets other agent programs in it ask here before they edit.</p>
<h2>From a program</h2>
<pre>curl -N ${origin}/api/v1/chat/completions -H "Authorization: Bearer TOKEN" \\
  -d '{"messages": [{"role": "user", "content": "list the files here"}], "stream": true}'</pre>
<p>OpenAI clients take <code>${origin}/v1</code> as their base URL and the token as their key.
<a href="/openapi.json">/openapi.json</a> describes every path. The README and <code>docs/</code> of
the project say more.</p>
</html>`;
}

/** `GET /openapi.json`: public, like the source that it is made from. */
import { Hono } from 'hono/tiny';
import { DOCUMENT_LIMITS } from '../../../shared/limits.ts';
import type { AppContext } from '../../people/caller.ts';
import { describeApi } from './document.ts';

export const openapi = new Hono<AppContext>().get('/openapi.json', (c) => {
  text ??= JSON.stringify(describeApi());
  return c.body(text, 200, {
    'content-type': 'application/json',
    'cache-control': `public, max-age=${DOCUMENT_LIMITS.maxAgeSeconds}`,
  });
});

/** Made with the first request of this isolate; it changes only with the code. */
let text: string | undefined;

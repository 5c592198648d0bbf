/** Serves the web page's files on plain workerd. A deployment serves them before the Worker is asked (wrangler.toml). */
import type { MiddlewareHandler } from 'hono';
import { HASHED_FOLDER, HASHED_HEADERS, PAGE_HEADERS } from '../../shared/page.ts';
import type { AppContext } from '../account/caller.ts';

/** Answers for a file of the page. Any other request goes on, and all do where the Worker has no page. */
export const servePage: MiddlewareHandler<AppContext> = async (c, next) => {
  const { PAGE } = c.env;
  if (!PAGE) return await next();
  const file = c.req.path === '/' ? '/index.html' : c.req.path;
  const type = TYPES[EXTENSION.exec(file)?.[1] ?? ''];
  if (!type || !FILE.test(file) || !READS.has(c.req.method)) return await next();
  const { ok, body } = await PAGE.fetch(`http://page${file}`);
  if (!ok || !body) {
    await body?.cancel();
    return await next();
  }
  const isHashed = file.startsWith(`/${HASHED_FOLDER}/`);
  return c.body(body, 200, {
    'content-type': type,
    ...PAGE_HEADERS,
    ...(isHashed ? HASHED_HEADERS : { 'cache-control': 'no-cache' }),
  });
};

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** A name as the build makes it: no folder above, no hidden file. */
const FILE = new RegExp(`^/(?:${HASHED_FOLDER}/)?\\w[\\w.-]*$`);
const EXTENSION = /\.(\w+)$/;

/** workerd's disk gives every file the same type. */
const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  png: 'image/png',
  svg: 'image/svg+xml',
  webmanifest: 'application/manifest+json',
};

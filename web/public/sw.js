// Opens the page without a network: its files as they were last loaded. The network comes first, so that the page is
// never older than its server. What was read is in the page's own storage, not here.
const CACHE = 'page';
const HASHED = /\/page\/[\w.-]+$/;
/** Files of older pages: kept until there are more than this. */
const MAX_FILES = 40;

addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));

addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET' || new URL(request.url).origin !== location.origin) return;
  if (request.mode === 'navigate') event.respondWith(newest(request));
  else if (HASHED.test(new URL(request.url).pathname)) event.respondWith(kept(request));
});

/** From the network, or as it was without one. */
async function newest(request) {
  const cache = await caches.open(CACHE);
  // What stands behind the path is never part of the page, and can be a secret.
  const key = new URL(request.url).pathname;
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(key, response.clone());
    return response;
  } catch (error) {
    const old = await cache.match(key);
    if (old) return old;
    throw error;
  }
}

/** A name has one content. */
async function kept(request) {
  const cache = await caches.open(CACHE);
  const old = await cache.match(request);
  if (old) return old;
  const response = await fetch(request);
  if (response.ok) {
    await cache.put(request, response.clone());
    const files = await cache.keys();
    const tooMany = files.filter(({ url }) => HASHED.test(new URL(url).pathname));
    await Promise.all(tooMany.slice(0, -MAX_FILES).map((file) => cache.delete(file)));
  }
  return response;
}

// Opens the page without a network: its files as they were last loaded. The network comes first, so that the page is
// never older than its server. What was read is in the page's own storage, not here. Shows notifications.
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
    await keep(cache, key, response);
    return response;
  } catch (error) {
    const old = await cache.match(key);
    if (old) return old;
    throw error;
  }
}

/** Where there is no room, the page opens all the same. */
async function keep(cache, key, response) {
  if (response.ok) await cache.put(key, response.clone()).catch(() => undefined);
}

/** A name has one content. */
async function kept(request) {
  const cache = await caches.open(CACHE);
  const old = await cache.match(request);
  if (old) return old;
  const response = await fetch(request);
  await keep(cache, request, response);
  const files = await cache.keys();
  const tooMany = files.filter(({ url }) => HASHED.test(new URL(url).pathname));
  await Promise.all(tooMany.slice(0, -MAX_FILES).map((file) => cache.delete(file)));
  return response;
}

addEventListener('push', (event) => event.waitUntil(show(event.data.json().notification)));

addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(open(new URL(event.notification.data).hash));
});

/** Also to a person who looks at the page: iOS ends a subscription whose messages show nothing. Then without a sound. */
async function show({ title, body, navigate, app_badge: badge }) {
  const windows = await clients.matchAll({ type: 'window' });
  const isOpen = windows.some(({ visibilityState }) => visibilityState === 'visible');
  const how = { silent: isOpen, renotify: !isOpen };
  // One for each conversation: a newer one takes the place of the older.
  await registration.showNotification(title, { body, tag: navigate, data: navigate, ...how });
  await navigator.setAppBadge?.(Number(badge)).catch(() => undefined); // Only installed pages have one.
}

/** In a window that is open, which the person used last, or in a new one. */
async function open(place) {
  const [known] = await clients.matchAll({ type: 'window' });
  if (!known) return await clients.openWindow(place);
  known.postMessage(place);
  return await known.focus();
}

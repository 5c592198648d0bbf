/** The service worker that opens the page without a network, and shows notifications (public/sw.js). */

const FILE = 'sw.js';

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string };
}

/** Of the worker. */
const CACHE = 'page';

/** Does nothing where a browser has none, as at an address without https in a local network. */
export function openOffline(): void {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  // The one URL of a script that this page makes; shared/page.ts names the policy.
  const policy = trustedTypes?.createPolicy('drawbridge', { createScriptURL: () => FILE });
  navigator.serviceWorker?.addEventListener('message', ({ data: place }) => {
    location.hash = place; // Of the notification that was clicked.
  });
  navigator.serviceWorker?.register(policy?.createScriptURL(FILE) ?? FILE).catch(() => undefined); // The page works without it.
  if (navigator.serviceWorker?.controller === null) keepFiles().catch(() => undefined); // The next load keeps them.
}

/** The worker did not see the load that brought it. */
async function keepFiles(): Promise<void> {
  const loaded = performance.getEntriesByType('resource').map(({ name }) => name);
  const files = loaded.filter((name) => name.includes('/page/'));
  await (await caches.open(CACHE)).addAll([location.pathname, ...files]);
}

/** What the person has chosen of notifications in this browser, and the end of them. */
import type { PushKinds } from '../../client/index.ts';
import { keepText, readText } from '../parts/storage.ts';

const KEY = 'push';

/** The choice outlives the subscription: the server forgets one that the push service has ended. */
export function chosenKinds(): PushKinds {
  const chosen: Partial<PushKinds> = JSON.parse(readText(KEY) || '{}');
  return { waiting: false, ended: false, failed: false, ...chosen };
}

export function keepKinds(kinds: PushKinds): void {
  keepText(KEY, JSON.stringify(kinds));
}

/** Whether there is a notification to wait for. */
export function isAny(kinds: PushKinds): boolean {
  return Object.values(kinds).includes(true);
}

/** Ends this browser's subscription, and takes away what it shows. The server's stays, and ends with its session. */
export async function endPush(): Promise<void> {
  keepText(KEY, '');
  const registration = await navigator.serviceWorker?.getRegistration();
  const shown = (await registration?.getNotifications()) ?? [];
  for (const notification of shown) notification.close();
  await (await registration?.pushManager?.getSubscription())?.unsubscribe();
}

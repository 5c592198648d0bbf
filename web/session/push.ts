/** Notifications of this session: of this browser by Web Push, which the service worker shows (public/sw.js), or by ntfy. */
import {
  encodeBase64Url,
  type NtfyTopic,
  type PageClient,
  type PushKinds,
  type PushState,
} from '../../client/index.ts';
import { words } from '../words/settings.ts';
import { chosenKinds, endPush, isAny, keepKinds } from './push-choice.ts';

/** Whether notifications can be had here, or why not. */
export type PushSupport = 'ready' | 'denied' | 'insecure' | 'homeScreen' | 'none';

export function pushSupport(): PushSupport {
  if (!isSecureContext) return 'insecure';
  if (!('PushManager' in globalThis)) return isPhoneOfApple() ? 'homeScreen' : 'none';
  return Notification.permission === 'denied' ? 'denied' : 'ready';
}

/** Safari gives a page no notifications there until it is on the home screen. An iPad calls itself a Mac. */
function isPhoneOfApple(): boolean {
  const { userAgent, maxTouchPoints } = navigator;
  return /iPhone|iPad/.test(userAgent) || (userAgent.includes('Mac OS') && maxTouchPoints > 1);
}

/**
 * Subscribes to these kinds, or to nothing. To be called by a click, because it may ask for permission; a person who
 * refuses that changes nothing. Rejects if the browser's push service or the server does.
 */
export async function choosePush(client: PageClient, kinds: PushKinds): Promise<void> {
  if (!isAny(kinds)) {
    await client.deletePush();
    await endPush();
    return;
  }
  if ((await Notification.requestPermission()) !== 'granted') return;
  await subscribe(client, kinds, await client.getPush());
  keepKinds(kinds);
}

/** Sends the session's notifications to a topic in place of this browser. Rejects if the server does. */
export async function chooseTopic(
  client: PageClient,
  subscription: NtfyTopic,
  kinds: PushKinds,
): Promise<void> {
  await client.setPush({ subscription, kinds });
  await endPush();
}

/** To be called at the start: subscribes anew where the browser, the push service or the server has changed something. */
export async function keepPush(client: PageClient): Promise<void> {
  const kinds = chosenKinds();
  if (!isAny(kinds) || pushSupport() !== 'ready') return;
  const state = await client.getPush();
  const isSame = JSON.stringify(kinds) === JSON.stringify(state.subscribed?.kinds);
  const present = await (await pushManager())?.getSubscription();
  if (!isSame || !isUsed(present, state)) await subscribe(client, kinds, state);
}

async function subscribe(client: PageClient, kinds: PushKinds, state: PushState): Promise<void> {
  const manager = await pushManager();
  if (!manager) throw new Error(words.noPush.none); // The service worker could not be registered.
  const present = await manager.getSubscription();
  // It has ended at the push service, or is for another key, beside which a browser takes none.
  if (present && !isUsed(present, state)) await present.unsubscribe();
  const wanted = { userVisibleOnly: true, applicationServerKey: state.publicKey };
  const { endpoint = '', keys } = (await manager.subscribe(wanted)).toJSON();
  const { p256dh = '', auth = '' } = keys ?? {};
  await client.setPush({ subscription: { endpoint, keys: { p256dh, auth } }, kinds });
}

async function pushManager(): Promise<PushManager | undefined> {
  return (await navigator.serviceWorker?.getRegistration())?.pushManager;
}

/** Whether the server sends to this subscription, with the key that it has now. */
function isUsed(
  present: PushSubscription | null | undefined,
  { publicKey, subscribed }: PushState,
): boolean {
  if (!present || present.endpoint !== subscribed?.endpoint) return false;
  const { applicationServerKey: key } = present.options;
  return key !== null && encodeBase64Url(new Uint8Array(key)) === publicKey;
}

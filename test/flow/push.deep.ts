import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_CHROMIUM, startBrowser } from '../browser/chromium.ts';
import { accessibilityFaults, openDevice, type WebDevice } from '../browser/web-page.ts';
import { NTFY_TOKEN, scriptNtfy } from '../far-ends/scripted-ntfy.ts';
import { oneHouse } from './one-house.ts';

const ntfy = scriptNtfy();
const ntfyServer = createServer(async (request, response) => {
  const { method = '', url = '', headers } = request;
  const { authorization } = headers;
  const body = await text(request);
  response.statusCode = ntfy.take({ method, url: `${ntfyUrl}${url}`, authorization, body });
  response.end();
}).listen(0, '127.0.0.1');
await once(ntfyServer, 'listening');
const ntfyUrl = `http://127.0.0.1:${(ntfyServer.address() as AddressInfo).port}`;

const one = oneHouse({ variables: { WEBHOOK_ORIGINS: ntfyUrl } });
let browser: Browser;
beforeAll(async () => {
  if (!NO_CHROMIUM) browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  ntfyServer.close();
});

const here = () => ({ client: one.house.client, url: one.house.ready.url });

/** A device whose person allows notifications. */
async function openAllowed(): Promise<WebDevice> {
  const device = await openDevice(browser, here());
  await device.context.grantPermissions(['notifications'], { origin: one.house.ready.url });
  await device.page.evaluate('navigator.serviceWorker.ready.then(() => undefined)');
  return device;
}

/** The browser's side of a push service, which a headless one has not. Its subscription lives as long as the page. */
const PUSH_SERVICE = `
  let present = null;
  PushManager.prototype.getSubscription = async () => present;
  PushManager.prototype.subscribe = async ({ applicationServerKey: text }) => {
    const key = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    const { buffer } = Uint8Array.from(key, (char) => char.charCodeAt(0));
    const endpoint = 'https://fcm.googleapis.com/fcm/send/' + crypto.randomUUID();
    const keys = { p256dh: text, auth: 'BTBZMqHH6r4Tts7J_aSIgg' };
    return (present = {
      endpoint,
      options: { applicationServerKey: buffer },
      toJSON: () => ({ endpoint, expirationTime: null, keys }),
      unsubscribe: async () => void (present = null),
    });
  };`;

/** Hands a message to the page's service worker, as a browser does that got and decrypted it. */
async function deliver(page: Page, body: string): Promise<void> {
  const { origin } = new URL(page.url());
  const notification = {
    title: 'Fix the tests',
    body,
    navigate: addressAt(origin),
    app_badge: '2',
  };
  const data = JSON.stringify({ web_push: 8030, notification });
  const cdp = await page.context().newCDPSession(page);
  const registered = new Promise<string>((resolve) => {
    cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      if (registrations[0]) resolve(registrations[0].registrationId);
    });
  });
  await cdp.send('ServiceWorker.enable');
  const registrationId = await registered;
  await cdp.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data });
  await cdp.detach();
}

const PLACE = '#/c/conv_0c8f1e5a-3b7d-4a52-9f60-2d1e7b8c0000';

function addressAt(origin: string): string {
  return `${origin}/${PLACE}`;
}

async function shownOn(page: Page): Promise<unknown> {
  return await page.evaluate(`navigator.serviceWorker.ready
    .then((registration) => registration.getNotifications())
    .then((all) => all.map(({ title, body, tag, silent }) => ({ title, body, tag, silent })))`);
}

describe.skipIf(NO_CHROMIUM)(`notifications ${NO_CHROMIUM ?? ''}`, () => {
  it('a message is shown, silently while the page is visible, and a newer one takes its place', async () => {
    const device = await openAllowed();
    const { page } = device;
    await deliver(page, 'Waits for you');
    const tag = addressAt(one.house.ready.url);
    const shown = { title: 'Fix the tests', tag, silent: true };
    await expect.poll(() => shownOn(page)).toEqual([{ ...shown, body: 'Waits for you' }]);
    await deliver(page, 'The answer is complete');
    const newer = [{ ...shown, body: 'The answer is complete' }];
    await expect.poll(() => shownOn(page)).toEqual(newer);
    expect(device.faults).toEqual([]);
    await device.context.close();
  });

  it('a click on a notification leads the open page to its conversation', async () => {
    const device = await openAllowed();
    const { page, context } = device;
    await deliver(page, 'Waits for you');
    await expect.poll(() => shownOn(page)).toHaveLength(1);
    const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
    await worker.evaluate(`registration.getNotifications().then(([notification]) => {
      dispatchEvent(new NotificationEvent('notificationclick', { notification }));
    })`);
    await expect.poll(() => page.url()).toContain(PLACE);
    expect(await shownOn(page)).toEqual([]);
    await device.context.close();
  });

  it('a switch subscribes this browser, which stays subscribed, until it is signed out', async () => {
    const device = await openAllowed();
    const { page } = device;
    await device.context.addInitScript(PUSH_SERVICE);
    await page.reload();
    await page.waitForSelector('.frame');
    await device.go('#/settings');
    const put = () => page.waitForResponse((answer) => answer.request().method() === 'PUT');
    const [first] = await Promise.all([put(), page.click('text=something waits for you')]);
    expect([new URL(first.url()).pathname, first.status()]).toEqual(['/api/v1/push', 204]);
    const { kinds } = first.request().postDataJSON();
    expect(kinds).toEqual({ waiting: true, ended: false, failed: false });
    const box = page.locator('fieldset input[type=checkbox]').first();
    expect(await box.isChecked()).toBe(true);
    expect(await accessibilityFaults(page)).toEqual([]);
    // The new page has no subscription, as after a browser has dropped it.
    const [again] = await Promise.all([put(), page.reload()]);
    expect(again.request().postDataJSON().kinds).toEqual(kinds);
    expect(await box.isChecked()).toBe(true);
    page.on('dialog', (dialog) => void dialog.accept());
    await page.click('.settings .column > button:has-text("Sign out")');
    await page.waitForSelector('.sign-in');
    const left = await page.evaluate(`navigator.serviceWorker.ready
      .then(({ pushManager }) => pushManager.getSubscription())
      .then((subscription) => [subscription, localStorage.getItem('push')])`);
    expect(left).toEqual([null, null]);
    expect(device.faults).toEqual([]);
    await device.context.close();
  });

  it('a browser without a push service says that it failed, and the switch stays off', async () => {
    const device = await openAllowed();
    const { page } = device;
    await device.go('#/settings');
    await page.click('text=something waits for you');
    await expect.poll(() => page.textContent('[role=alert]')).toContain('could not be turned on');
    expect(await page.locator('fieldset input[type=checkbox]').first().isChecked()).toBe(false);
    await device.context.close();
  });

  it('a page whose notifications are blocked says where to allow them', async () => {
    const device = await openDevice(browser, here());
    const { page, context } = device;
    await context.addInitScript(
      "Object.defineProperty(Notification, 'permission', { value: 'denied' })",
    );
    await page.reload();
    await device.go('#/settings');
    await expect.poll(() => page.textContent('.settings')).toContain('Allow them in its settings');
    await context.close();
  });

  it('a browser without notifications sets a topic of ntfy, changes the kinds, and removes it', async () => {
    const device = await openDevice(browser, here());
    const { page, context } = device;
    const denied = "Object.defineProperty(Notification, 'permission', { value: 'denied' })";
    await context.addInitScript(denied);
    await page.reload();
    await device.go('#/settings');
    const boxes = page.locator('.choices input[type=checkbox]');
    const chosen = () =>
      boxes.evaluateAll((all) =>
        all.map((box) => (box as unknown as { checked: boolean }).checked),
      );
    const fill = async (topic: string) => {
      await page.fill('[aria-label="Address of the topic"]', topic);
      await page.fill('[aria-label^="Access token"]', NTFY_TOKEN);
      await page.click('.settings details button:has-text("Save")');
    };
    await page.click('text=By ntfy instead');
    await fill('https://192.168.0.1/reserved-home');
    await expect.poll(() => page.textContent('[role=alert]')).toContain('private network');
    expect(await boxes.count()).toBe(0);
    const topic = `${ntfyUrl}/reserved-home`;
    await fill(topic);
    await expect.poll(chosen).toEqual([true, true, true]);
    expect(await page.locator('[role=alert]').count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.reload();
    await page.click('text=By ntfy instead');
    expect(await page.inputValue('[aria-label="Address of the topic"]')).toBe(topic);
    expect(await page.inputValue('[aria-label^="Access token"]')).toBe('');
    const put = page.waitForResponse((answer) => answer.request().method() === 'PUT');
    await page.click('text=an agent, or an answer that took long, failed');
    expect((await put).status()).toBe(204);
    await expect.poll(chosen).toEqual([true, true, false]);
    one.answerWith([{ text: 'Done.' }]);
    const { id } = await one.house.client.createAgent({ prompt: 'Tidy up', workspace: 'in_place' });
    await expect.poll(() => ntfy.published).toMatchObject([{ message: 'The answer is complete' }]);
    expect(ntfy.published[0]).toMatchObject({
      topic: 'reserved-home',
      click: `${one.house.ready.url}/#/c/${id}`,
    });
    await page.click('text=Stop using ntfy');
    await expect.poll(() => boxes.count()).toBe(0);
    expect(await page.inputValue('[aria-label="Address of the topic"]')).toBe('');
    expect(one.house.log()).not.toMatch(/reserved-home|tk_/);
    expect(device.faults).toEqual([]);
    await context.close();
  });
});

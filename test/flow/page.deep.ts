import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readEnrolment } from '../../client/index.ts';
import { startBufferingProxy } from '../browser/buffering-proxy.ts';
import { NO_CHROMIUM, startBrowser } from '../browser/chromium.ts';
import { accessibilityFaults, openDevice, PATIENCE_MS, PHONE } from '../browser/web-page.ts';
import { runDrawbridge } from '../cli/drawbridge.ts';
import { workerdOf } from './house.ts';
import { oneHouse } from './one-house.ts';

const one = oneHouse({
  variables: { PRIVATE_MODELS: '*' },
  rules: [{ tool: 'write', pattern: '*', decision: 'ask' }],
});
let browser: Browser;
beforeAll(async () => {
  if (!NO_CHROMIUM) browser = await startBrowser();
});
afterAll(() => browser?.close());

const here = () => ({ client: one.house.client, url: one.house.ready.url });

it('serves the files of the page under its policy, and nothing else of the disk', async () => {
  const { url } = one.house.ready;
  const index = await fetch(`${url}/`);
  expect(index.headers.get('content-security-policy')).toContain("default-src 'none'");
  const [, script = ''] = /src="(page\/main-\w+\.js)"/.exec(await index.text()) ?? [];
  const loaded = await fetch(`${url}/${script}`);
  expect(loaded.headers.get('content-type')).toContain('text/javascript');
  expect(loaded.headers.get('cache-control')).toContain('immutable');
  await loaded.body?.cancel();
  const paths = [
    '/page/',
    '/page',
    '/page/..%2findex.html',
    '/page/.hidden.js',
    '/_headers',
    '/x.js',
  ];
  for (const path of paths) expect((await fetch(url + path)).status, path).toBe(401);
  const head = await fetch(`${url}/`, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
});

describe.skipIf(NO_CHROMIUM)(`the page ${NO_CHROMIUM ?? ''}`, () => {
  it('takes the secret out of the URL, and stays signed in over a reload', async () => {
    const device = await openDevice(browser, here());
    expect(device.page.url()).not.toContain('join');
    await device.page.reload();
    await device.page.waitForSelector('.frame');
    const { items } = await one.house.client.listSessions();
    expect(items).toMatchObject([{ kind: 'browser', name: 'Chrome on Linux' }]);
    expect(device.faults).toEqual([]);
    await device.context.close();
  });

  it('asks before the link of a server elsewhere signs in: it may be a stranger’s', async () => {
    const { client, url } = here();
    const { secret } = await client.createInvitation();
    const context = await browser.newContext({ locale: 'en-GB' });
    const page = await context.newPage();
    // Browsers find every name below localhost at this machine.
    await page.goto(`${url.replace('127.0.0.1', 'elsewhere.localhost')}/#join=${secret}`);
    await page.waitForSelector('text=This link signs this browser in at elsewhere.localhost');
    expect(page.url()).not.toContain('join');
    expect(await accessibilityFaults(page)).toEqual([]);
    expect((await client.listInvitations()).items).toHaveLength(1);
    await page.click('.ask button:has-text("Sign in")');
    await page.waitForSelector('.frame');
    await page.reload();
    await page.waitForSelector('.frame');
    await context.close();
  });

  it('shows an answer on two devices as it streams, to the last character over a crash of the server', async () => {
    const text = Array.from({ length: 60 }, (_, index) => `Word ${index}.`).join(' ');
    one.answerWith(() => ({ text, delayMs: 30 }));
    const [laptop, phone] = [
      await openDevice(browser, here()),
      await openDevice(browser, here(), { viewport: PHONE }),
    ];
    await laptop.go('#/new');
    await laptop.say('count');
    await laptop.sees('Word 1.');
    await phone.page.click('.list a');
    await phone.sees('Word 3.');
    process.kill(workerdOf(one.house), 'SIGKILL');
    for (const device of [laptop, phone]) {
      await device.sees('Word 59.');
      const shown = await device.page.textContent('.response .text');
      expect(shown?.replaceAll(/\s+/g, ' ').trim()).toBe(text);
      expect(device.faults).toEqual([]);
      await device.context.close();
    }
  });

  it('stays alive with ten tabs on one server without HTTP/2', async () => {
    one.answerWith(() => ({ text: 'For all of you.' }));
    const device = await openDevice(browser, here());
    await device.go('#/new');
    await device.say('to all tabs');
    await device.sees('For all of you.');
    const tabs = await Promise.all(
      Array.from({ length: 9 }, async () => {
        const tab = await device.context.newPage();
        await tab.goto(device.page.url());
        return tab;
      }),
    );
    await device.say('once more');
    for (const tab of tabs) {
      await expect.poll(() => tab.textContent('.messages')).toMatch(/(For all of you\..*){2}/s);
    }
    await device.context.close();
  });

  it('sends a message that was written offline once, when the network is back', async () => {
    one.answerWith(() => ({ text: 'Here I am.' }));
    const device = await openDevice(browser, here());
    await device.go('#/new');
    await device.context.setOffline(true);
    await device.say('written offline');
    await device.page.waitForSelector('.message.pending');
    await device.page.reload().catch(() => undefined); // There is no network to load the page from.
    await device.context.setOffline(false);
    await device.page.goto(one.house.ready.url);
    await device.page.waitForSelector('.list a:has-text("written offline")');
    await device.page.click('.list a');
    await device.sees('Here I am.');
    expect(one.requests()).toHaveLength(1);
    await device.context.close();
  });

  it('shows what was read without a network, but nothing that is private, deleted or signed out', async () => {
    one.answerWith(() => ({ text: 'To be read again.' }));
    const device = await openDevice(browser, here());
    const { page, context } = device;
    await device.go('#/new');
    await device.say('to keep');
    await device.sees('To be read again.');
    const hidden = {
      deleteAfterHours: 1,
      messages: [{ role: 'user' as const, content: 'to hide' }],
    };
    const { conversationId } = await one.house.client.sendMessage(hidden);
    await device.go(`#/c/${conversationId}`);
    await device.sees('to hide');
    // The service worker did not see the load that brought it.
    await expect.poll(() => page.evaluate("caches.match('/').then(Boolean)")).toBe(true);
    await context.setOffline(true);
    await page.reload();
    await page.click('.list a:has-text("to keep")');
    await device.sees('To be read again.');
    await device.go(`#/c/${conversationId}`);
    await expect.poll(() => page.textContent('.thread .fill')).toContain('Connecting');
    const [kept] = (await one.house.client.listConversations({ search: 'keep' })).items;
    await one.house.client.deleteConversation(kept?.id ?? '');
    await context.setOffline(false);
    await page.reload();
    await page.waitForSelector('.list a:has-text("to keep")', { state: 'detached' });
    await expect.poll(() => page.evaluate(KEPT)).not.toContain(kept?.id);
    expect(device.faults).toEqual([]);
    await context.close();
  });

  it('only rejects before it is enrolled, and then approves what it shows, by a pattern that matches', async () => {
    const file = { path: 'made.txt', contents: 'made\n' };
    const write = { calls: [{ name: 'write', arguments: file }] };
    one.answerWith([write, { text: 'Rejected.' }, write, { text: 'Written.' }]);
    const stranger = await openDevice(browser, here());
    await stranger.go('#/new');
    await stranger.say('write it');
    await stranger.page.waitForSelector('.ask:has-text("made.txt")');
    await stranger.page.waitForSelector('.ask button:has-text("Allow")', { state: 'detached' });
    await stranger.page.click('.ask button:has-text("Reject")');
    await stranger.sees('Rejected.');
    const printed = await runDrawbridge(['enrol', '--state', one.house.state], {});
    const { bridgeId, secret } = readEnrolment(printed.stdout) ?? {};
    const enrolled = await openDevice(browser, here(), { extra: `&enrol=${bridgeId}.${secret}` });
    // What it writes goes to the folder that the link is from.
    expect(await enrolled.page.evaluate("localStorage.getItem('last bridge')")).toBe(bridgeId);
    await stranger.say('write it now');
    await enrolled.go('#/inbox');
    await enrolled.page.waitForSelector('.ask button:has-text("Allow once")');
    for (const { page } of [stranger, enrolled]) {
      expect(await accessibilityFaults(page)).toEqual([]);
    }
    await enrolled.page.click('.ask summary');
    await enrolled.page.fill('.ask [name=pattern]', 'other.txt');
    await enrolled.page.click('.ask button:has-text("Allow in this conversation")');
    await enrolled.page.waitForSelector('.ask [role=alert]:has-text("does not match made.txt")');
    await enrolled.page.fill('.ask [name=pattern]', 'made.*');
    await enrolled.page.waitForSelector('.ask [role=alert]', { state: 'detached' });
    await enrolled.page.click('.ask button:has-text("Allow in this conversation")');
    await stranger.sees('Written.');
    expect(readFileSync(join(one.house.workspace, 'made.txt'), 'utf8')).toBe('made\n');
    await enrolled.page.waitForSelector('text=Nothing waits for you.');
    expect([...stranger.faults, ...enrolled.faults]).toEqual([]);
    await stranger.context.close();
    await enrolled.context.close();
  });

  it('goes on after a list that could not be read once', async () => {
    one.answerWith(() => ({ text: 'Still here.' }));
    const device = await openDevice(browser, here());
    await device.page.waitForLoadState('networkidle');
    let refused = 0;
    await device.page.route('**/api/v1/bridges', (route) =>
      refused++ === 0 ? route.abort() : route.continue(),
    );
    await device.page.reload();
    await expect.poll(() => refused).toBeGreaterThan(1);
    await one.house.client.sendMessage({ messages: [{ role: 'user', content: 'news for all' }] });
    await device.page.waitForSelector('.list a:has-text("news for all")');
    await device.context.close();
  });

  it('answers a question, which is then gone everywhere', async () => {
    const question = {
      id: 'q',
      prompt: 'Which colour?',
      options: [
        { id: 'r', label: 'Red' },
        { id: 'g', label: 'Green' },
      ],
    };
    const args = { title: 'Colour', questions: [question] };
    one.answerWith([
      { calls: [{ name: 'ask_question', arguments: args }] },
      { text: 'Thank you.' },
    ]);
    const [asked, other] = [await openDevice(browser, here()), await openDevice(browser, here())];
    await asked.go('#/new');
    await asked.say('paint');
    await other.go('#/inbox');
    await other.page.click('button:has-text("Answer")');
    await other.page.waitForSelector('[role=alert]:has-text("Choose an answer")');
    await other.page.check('label:has-text("Green") input');
    await other.page.click('button:has-text("Answer")');
    await asked.sees('Thank you.');
    await asked.sees('Which colour? Green');
    await other.page.waitForSelector('text=Nothing waits for you.');
    await asked.context.close();
    await other.context.close();
  });

  it('changes a plan and has it carried out, with the todos in sight', async () => {
    const todos = ['one', 'two'].map((id) => ({ id, content: `Do ${id}` }));
    const plan = { name: 'Build it', overview: 'In two steps.', plan: '# Plan', todos };
    one.answerWith([
      { calls: [{ name: 'create_plan', arguments: plan }] },
      { text: 'Planned.' },
      {
        calls: [
          {
            name: 'todo_write',
            arguments: { merge: true, todos: [{ id: 'one', status: 'completed' }] },
          },
        ],
      },
      { text: 'Half done.' },
    ]);
    const device = await openDevice(browser, here());
    const { page } = device;
    await device.go('#/new');
    await page.selectOption('[name=mode]', 'plan');
    await device.say('plan it');
    await page.click('.plan-card button:has-text("Edit")');
    await page.fill('.plan-card ol textarea >> nth=1', 'Do two, but better');
    await page.click('.plan-card [aria-label="Move up"] >> nth=1');
    await page.click('button:has-text("Save") >> nth=0');
    await page.waitForSelector('.plan-card .todos li:first-child:has-text("Do two, but better")');
    await page.click('button:has-text("Carry out the plan")');
    await device.sees('Half done.');
    expect(await page.inputValue('[name=mode]')).toBe('agent');
    await page.waitForSelector('.pinned:has-text("1/2")');
    await page.waitForSelector('.document.todo_update .completed:has-text("Do one")');
    expect(device.faults).toEqual([]);
    await device.context.close();
  });

  it('steers an answer, and queues a message that is taken back', async () => {
    const text = Array.from({ length: 60 }, (_, index) => `Word ${index}.`).join(' ');
    one.answerWith(() => ({ text, delayMs: 60 }));
    const device = await openDevice(browser, here());
    const { page } = device;
    await device.go('#/new');
    await device.say('count slowly');
    await device.sees('Word 1.');
    await page.fill('.composer textarea', 'count faster');
    await page.click('button:has-text("Send now")');
    await device.sees('Sent during the answer');
    await page.fill('.composer textarea', 'never mind');
    await page.click('button:has-text("Queue")');
    await device.sees('Waits for its turn');
    await page.click('button:has-text("Take back")');
    await device.sees('Withdrawn');
    expect(await page.textContent('.composer')).not.toContain('Not sent');
    await page.click('button:has-text("Stop")');
    await device.sees('Stopped');
    await device.context.close();
  });

  it('lists: renames, archives, finds and deletes a conversation', async () => {
    one.answerWith(() => ({ text: 'Yes.' }));
    const device = await openDevice(browser, here());
    const { page } = device;
    page.on('dialog', (dialog) => {
      void (dialog.type() === 'prompt' ? dialog.accept('Zebra crossing') : dialog.accept());
    });
    await device.go('#/new');
    await device.say('something to find');
    await device.sees('Yes.');
    const menu = async (row: string, action: string) => {
      await page.click(`.list li:has-text("${row}") [aria-label=More]`);
      await page.click(`.items button:has-text("${action}")`);
    };
    await menu('something to find', 'Rename');
    await page.waitForSelector('.bar h1:has-text("Zebra crossing")');
    await menu('Zebra crossing', 'Archive');
    await page.waitForSelector('.list li:has-text("Zebra crossing")', { state: 'detached' });
    await page.click('button:has-text("Archived")');
    await page.fill('[type=search]', 'zebra');
    await menu('Zebra crossing', 'Delete');
    await expect.poll(() => page.url()).toMatch(/#\/$/);
    expect((await one.house.client.listConversations({ search: 'zebra' })).items).toEqual([]);
    expect(device.faults).toEqual([]);
    await device.context.close();
  });

  it('sends an edited message again, in a conversation that begins before it', async () => {
    one.answerWith([{ text: 'First answer.' }, { text: 'Second answer.' }]);
    const device = await openDevice(browser, here());
    await device.go('#/new');
    await device.say('with a typo');
    await device.sees('First answer.');
    const before = device.page.url();
    await device.page.click('.message button:has-text("Edit")');
    await device.page.fill('.message textarea', 'without one');
    await device.page.click('.message button:has-text("Send")');
    await device.sees('Second answer.');
    expect(device.page.url()).not.toBe(before);
    expect(await device.page.textContent('.messages')).not.toContain('typo');
    await device.context.close();
  });

  it('speaks German to a browser that wants it', async () => {
    const device = await openDevice(browser, here(), { locale: 'de-AT' });
    expect(await device.page.textContent('.top')).toContain('Neue Unterhaltung');
    expect(await device.page.getAttribute('html', 'lang')).toBe('de');
    await device.context.close();
  });

  it('shows what was done in the account, and takes an invitation back', async () => {
    const device = await openDevice(browser, here());
    const { page } = device;
    await device.go('#/settings');
    await page.click('button:has-text("Invite another device")');
    await page.waitForSelector('.qr path');
    const link = (await page.textContent('.ask code')) ?? '';
    await page.click('li:has-text("Invitation") button:has-text("Revoke")');
    await page.waitForSelector('li:has-text("Invitation")', { state: 'detached' });
    await page.click('button:has-text("Show")');
    await page.waitForSelector('li:has-text("Signed in"):has-text("Chrome on Linux")');
    const late = await device.context.browser()?.newPage();
    await late?.goto(link);
    await late?.waitForSelector('.sign-in [role=alert]:has-text("has run out")');
    await late?.close();
    expect(device.faults).toEqual([]);
    await device.context.close();
  });

  it('shows what is there through a proxy that holds streams back', async () => {
    one.answerWith(() => ({ text: 'Word. '.repeat(100), delayMs: 200 }));
    await using proxy = await startBufferingProxy(one.house.ready.url);
    await one.house.client.sendMessage({ messages: [{ role: 'user', content: 'before' }] });
    const device = await openDevice(browser, { ...here(), url: proxy.url });
    await device.page.waitForSelector('.list a:has-text("before")');
    await device.go('#/new');
    await device.page.waitForSelector('.composer [name=bridge]');
    await device.say('through a proxy');
    await expect
      .poll(() => device.page.textContent('.messages'), { timeout: PATIENCE_MS })
      .toMatch(/(?:Word\.\s*){100}/);
    await device.context.close();
  });

  it('opens and talks where the storage is full', async () => {
    one.answerWith(() => ({ text: 'Heard all the same.' }));
    const device = await openDevice(browser, here());
    const { page, context } = device;
    await page.evaluate('navigator.serviceWorker.ready.then(() => 0)');
    const devtools = await context.newCDPSession(page);
    const origin = one.house.ready.url;
    await devtools.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1 });
    await page.reload();
    await device.go('#/new');
    await device.say('no room');
    await device.sees('Heard all the same.');
    expect(device.faults).toEqual([]);
    await context.close();
  });

  it('works until it is closed where the browser refuses its storage', async () => {
    one.answerWith(() => ({ text: 'Heard without a memory.' }));
    const { client, url } = here();
    const context = await browser.newContext({ locale: 'en-GB' });
    await context.addInitScript(REFUSE_STORAGE);
    const page = await context.newPage();
    await page.goto(`${url}/#join=${(await client.createInvitation()).secret}`);
    await page.click('.top a >> nth=0');
    await page.fill('.composer textarea', 'remember nothing');
    await page.click('.composer button[type=submit]');
    await page.waitForSelector('.messages:has-text("Heard without a memory.")');
    await page.evaluate("location.hash = '#/settings'");
    await page.click('label:has-text("Dark")');
    expect(await page.getAttribute('html', 'data-theme')).toBe('dark');
    await context.close();
  });

  it('keeps nothing of one account for the next one, in no tab', async () => {
    one.answerWith(() => ({ text: 'For A alone.' }));
    const device = await openDevice(browser, here());
    const { page, context } = device;
    page.on('dialog', (dialog) => void dialog.accept());
    await device.go('#/new');
    await device.say('a secret of A');
    await device.sees('For A alone.');
    const second = await context.newPage();
    await second.goto(page.url());
    await second.waitForSelector('.messages:has-text("For A alone.")');
    await device.go('#/settings');
    await page.click('button:has-text("Sign out") >> nth=-1');
    await page.waitForSelector('.sign-in');
    await second.waitForSelector('.sign-in');
    const invited = await runDrawbridge(['invite', 'ben', '--state', one.house.state]);
    await page.goto(invited.stdout.trim());
    await page.waitForSelector('.frame');
    await expect.poll(() => page.textContent('body')).toContain('No conversation yet.');
    expect(await page.textContent('body')).not.toContain('secret of A');
    expect(await page.evaluate(KEPT)).not.toContainEqual(expect.stringContaining('conv_'));
    expect(device.faults).toEqual([]);
    await context.close();
  });

  it('forgets everything when its session is ended elsewhere', async () => {
    const device = await openDevice(browser, here());
    // Whoever is signed out stays out, also with another link that was opened before.
    const { secret } = await one.house.client.createInvitation();
    // A session that a page has not heard of yet gives way to the link.
    await device.page.goto('about:blank');
    const heard = device.page
      .waitForEvent('websocket')
      .then((socket) => socket.waitForEvent('framereceived'));
    await device.page.goto(`${one.house.ready.url}/#join=${secret}`);
    await heard;
    const { items } = await one.house.client.listSessions();
    await one.house.client.endSession(items[0]?.id ?? '');
    await device.page.waitForSelector('.sign-in [role=alert]');
    const left = await device.page.evaluate(LEFT);
    expect(left).toEqual([0, 0, 0]);
    await device.context.close();
  });

  it.each(['#/', '#/new', '#/inbox', '#/settings'])(
    'is accessible and fits a phone at %s',
    async (place) => {
      const device = await openDevice(browser, here(), { viewport: PHONE });
      await device.go(place);
      await expect
        .poll(() => device.page.getAttribute('.frame', 'class'))
        .toContain(place === '#/' ? 'at-list' : `at-${place.slice(2)}`);
      await device.page.waitForSelector('h1 >> visible=true');
      expect(await accessibilityFaults(device.page)).toEqual([]);
      const width = await device.page.evaluate<number>('document.documentElement.scrollWidth');
      expect(width).toBeLessThanOrEqual(PHONE.width);
      expect(device.faults).toEqual([]);
      await device.context.close();
    },
  );
});

/** In the page, before its scripts: as where a person blocks all cookies. */
const REFUSE_STORAGE = `
  const refuse = () => { throw new DOMException('refused', 'SecurityError'); };
  Object.defineProperty(globalThis, 'localStorage', { get: refuse });
  IDBFactory.prototype.open = refuse;`;

/** In the page: what its store of read conversations has. */
const KEPT = `new Promise((resolve, reject) => {
  const request = indexedDB.open('drawbridge-seen');
  request.onerror = () => reject(request.error);
  request.onsuccess = () => {
    const keys = request.result.transaction('seen').objectStore('seen').getAllKeys();
    keys.onsuccess = () => resolve(keys.result);
  };
})`;

/** In the page: how many entries are left in its databases and in its localStorage. */
const LEFT = `(async () => {
  const databases = await indexedDB.databases();
  const count = ({ name }) => new Promise((resolve, reject) => {
    const request = indexedDB.open(name);
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
      const counting = request.result.transaction(request.result.objectStoreNames[0]).objectStore(request.result.objectStoreNames[0]).count();
      counting.onsuccess = () => resolve(counting.result);
    };
  });
  return [...(await Promise.all(databases.map(count))), localStorage.length];
})()`;

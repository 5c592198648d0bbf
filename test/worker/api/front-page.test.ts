import { SELF } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { call } from '../api.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

it('answers a browser with a page that has no script and loads nothing', async () => {
  const response = await SELF.fetch('https://drawbridge.test/', { headers: { accept: BROWSER } });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/html/);
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  const page = await response.text();
  expect(page).not.toMatch(/<script|<link|<img|<style|\son\w+=/);
  expect(page).toContain('https://drawbridge.test/v1');
  const links = [...page.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href);
  expect(links).toEqual(['/openapi.json']);
  for (const link of links) {
    const linked = await SELF.fetch(new URL(link, 'https://drawbridge.test'));
    expect(linked.status).toBe(200);
    await linked.body?.cancel();
  }
});

it('shows nothing of a request but its address', async () => {
  const headers = { accept: BROWSER, 'x-forwarded-host': 'evil.test', cookie: 'name=evil' };
  const response = await SELF.fetch('http://drawbridge.test:8787/?evil', { headers });
  const page = await response.text();
  expect(page).toContain('http://drawbridge.test:8787/v1');
  expect(page).not.toContain('evil');
});

it('answers a browser that sends HEAD, and keeps the JSON error for other clients', async () => {
  const head = await SELF.fetch('https://drawbridge.test/', {
    method: 'HEAD',
    headers: { accept: BROWSER },
  });
  expect([head.status, await head.text()]).toEqual([200, '']);
  const program = await SELF.fetch('https://drawbridge.test/', { headers: { accept: '*/*' } });
  expect([program.status, (await program.json()) as object]).toMatchObject([401, { error: {} }]);
  const elsewhere = await call('nowhere', { headers: { accept: BROWSER } });
  expect(elsewhere.status).toBe(404);
});

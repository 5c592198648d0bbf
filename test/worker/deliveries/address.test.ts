import { describe, expect, it } from 'vitest';
import { reachOf } from '../../../worker/deliveries/address.ts';

describe('a webhook may not go to', () => {
  it.each([
    ...['http://example.com/', 'ftp://example.com/', 'not a URL', 'javascript:alert(1)'],
    ...['https://user:pw@example.com/', 'https://user@example.com/'],
    ...['https://127.0.0.1/', 'https://2130706433/', 'https://0x7f.1/', 'https://0177.0.0.1/'],
    ...['https://127.1/', 'https://0/', 'https://①②⑦.0.0.1/', 'https://127.0.0.1./'],
    ...['https://10.1.2.3/', 'https://172.31.255.255/', 'https://192.168.1.1/'],
    ...['https://169.254.169.254/', 'https://100.127.0.1/', 'https://198.19.0.1/'],
    ...['https://224.0.0.1/', 'https://255.255.255.255/', 'https://192.0.2.1/'],
    ...['https://[::1]/', 'https://[::]/', 'https://[::ffff:127.0.0.1]/', 'https://[::127.0.0.1]/'],
    ...['https://[::ffff:7f00:1]/', 'https://[64:ff9b::a9fe:a9fe]/', 'https://[fe80::1]/'],
    ...[
      'https://[fc00::1]/',
      'https://[fd12::1]/',
      'https://[ff02::1]/',
      'https://[2002:7f00:1::]/',
    ],
    ...['https://[2001::1]/', 'https://[2001:db8::1]/', 'https://[3fff::1]/'],
    ...['https://localhost/', 'https://LOCALHOST./', 'https://a.localhost/', 'https://intranet/'],
    ...['https://printer.local/', 'https://api.internal/', 'https://nas.home.arpa./'],
    'https://metadata.google.internal/',
  ])('%s', (url) => {
    expect(() => reachOf(url, {}, 'webhook.url')).toThrow(/^webhook\.url: /);
  });
});

describe('a webhook may go to', () => {
  it.each([
    ...['https://example.com/hook?key=1', 'https://example.com:8443/', 'https://8.8.8.8/'],
    ...['https://[2606:4700::1111]/', 'https://[2001:4860::1]/', 'https://172.32.0.1/'],
    'https://127.0.0.1.example.com/',
  ])('%s', (url) => {
    expect(reachOf(url, {}, 'webhook.url')).toBe('public');
  });

  it('an origin that the operator has named, and no other of its host', () => {
    const env = { WEBHOOK_ORIGINS: 'https://x.test, http://127.0.0.1:9000/' };
    expect(reachOf('http://127.0.0.1:9000/hook', env, 'webhook.url')).toBe('any');
    expect(() => reachOf('http://127.0.0.1:9001/hook', env, 'webhook.url')).toThrow(
      'not an https URL',
    );
    expect(() => reachOf('https://127.0.0.1:9000/hook', env, 'webhook.url')).toThrow(
      'private network',
    );
  });
});

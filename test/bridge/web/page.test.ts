import { createServer, type RequestListener } from 'node:http';
import type { LookupFunction } from 'node:net';
import { describe, expect, it } from 'vitest';
import { markdownOfHtml } from '../../../bridge/compute/page-text.ts';
import { readPage, type Visit, WEB_LIMITS } from '../../../bridge/web/page.ts';
import { ToolFailure } from '../../../machine/failure.ts';
import { isPublicAddress } from '../../../packages/sandbox/egress/addresses.ts';
import { portOf } from '../../far-ends/listening.ts';

describe('an address', () => {
  it.each([
    ...['127.0.0.1', '10.1.2.3', '172.31.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1'],
    ...['0.0.0.0', '224.0.0.1', '255.255.255.255', '198.18.0.1', '192.0.2.1'],
    ...['::1', '::', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '64:ff9b::a9fe:a9fe', '2002:7f00:1::'],
    ...['fe80::1', 'fc00::1', 'ff02::1', '2001:db8::1', '2001::1', 'example.com', ''],
  ])('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(['8.8.8.8', '93.184.216.34', '2606:4700::1111', '2a00:1450:4001::1'])(
    '%s is public',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );
});

describe('no connection is made', () => {
  it.each([
    ...['http://127.0.0.1/', 'http://2130706433/', 'http://0x7f.1/', 'http://0177.0.0.1/'],
    ...['http://127.1/', 'http://[::1]/', 'http://[::ffff:7f00:1]/', 'http://0/'],
    ...['http://169.254.169.254/latest', 'http://①②⑦.0.0.1/', 'http://[fe80::1]/'],
    ...['http://user:pw@example.com/', 'http://example.com:22/', 'ftp://example.com/'],
    'file:///etc/passwd',
  ])('to %s', async (url) => {
    const error = await failureOf(readPage(url, ALL));
    expect(error.code).toBe('NOT_ALLOWED');
  });

  it('to a name of this machine', async () => {
    const error = await failureOf(readPage('http://localhost/', ALL));
    expect(error.message).toContain('private network');
  });

  it('to a name that has a private address among others, also where it had none before', async () => {
    const site = await startSite((_, response) => response.end('page'));
    const lookup = resolving(['127.0.0.1'], ['127.0.0.1', '127.0.0.2']);
    const net = { ...site.net, lookup, isPublic: (address: string) => address === '127.0.0.1' };
    const url = `http://rebound.test:${site.port}/`;
    expect(await readPage(url, { ...ALL, net })).toBe('page');
    const error = await failureOf(readPage(url, { ...ALL, net }));
    expect(error.message).toContain('private network');
    expect(site.hits).toBe(1);
  });

  it('to an address that a rule does not allow, also behind a redirect', async () => {
    const site = await startSite((request, response) => {
      response.writeHead(302, { location: `/private${request.url}` }).end();
    });
    const visit = { ...ALL, net: site.net, mayFetch: (url: string) => url === site.url('/a') };
    expect((await failureOf(readPage(site.url('/a'), visit))).code).toBe('NOT_ALLOWED');
    expect(site.hits).toBe(1);
  });

  it('to a private place that a redirect leads to', async () => {
    const inner = await startSite((_, response) => response.end('SECRET'));
    const site = await startSite((_, response) => {
      response.writeHead(302, { location: inner.url('/').replace('127.0.0.1', '127.0.0.2') }).end();
    });
    const net = { ...site.net, isPublic: (address: string) => address === '127.0.0.1' };
    const error = await failureOf(readPage(site.url('/'), { ...ALL, net }));
    expect(error.code).toBe('NOT_ALLOWED');
    expect([site.hits, inner.hits]).toEqual([1, 0]);
  });
});

describe('a page', () => {
  it('is read as text, behind redirects, without cookies and keys', async () => {
    const seen: object[] = [];
    const site = await startSite((request, response) => {
      seen.push(request.headers);
      if (request.url === '/') {
        response.writeHead(301, { location: '/next' }).end();
        return;
      }
      response.setHeader('content-type', 'text/html; charset=iso-8859-1');
      response.end(Buffer.from('<title>x</title><h1>Gr\xfc\xdfe</h1><p>a &lt; b', 'latin1'));
    });
    expect(await readPage(site.url('/'), { ...ALL, net: site.net })).toBe('x\n# Grüße\n\na < b');
    expect(seen).toHaveLength(2);
    expect(Object.keys(seen[1] ?? {}).sort()).toEqual(
      ['accept', 'accept-encoding', 'connection', 'host'].sort(),
    );
  });

  it.each<[string, RequestListener]>([
    ['the server answered 404', (_, response) => response.writeHead(404).end('no')],
    ['it is no text', (_, response) => response.setHeader('content-type', 'image/png').end('x')],
    ['it is packed', (_, response) => response.setHeader('content-encoding', 'br').end('x')],
    ['redirects too often', (_, response) => response.writeHead(302, { location: '/' }).end()],
    ['ECONNRESET', (request) => request.socket.destroy()],
    [
      'another protocol',
      (request) =>
        request.socket.write('HTTP/1.1 101 x\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
    ],
  ])('that cannot be read says why: %s', async (why, listener) => {
    const site = await startSite(listener);
    const error = await failureOf(readPage(site.url('/'), { ...ALL, net: site.net }));
    expect(error.code).toBe('FETCH_FAILED');
    expect(error.message).toContain(why);
  });

  it('that does not end is read up to its bound', async () => {
    const site = await startSite((_, response) => {
      const more = () => {
        while (response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    });
    const text = await readPage(site.url('/'), { ...ALL, net: site.net });
    expect(text).toHaveLength(
      WEB_LIMITS.maxBytes + '\n(Only the first 1048576 bytes were read.)'.length,
    );
  });

  it('whose server never answers ends with its signal', async () => {
    const site = await startSite(() => {});
    const controller = new AbortController();
    const reading = readPage(site.url('/'), { ...ALL, net: site.net, signal: controller.signal });
    await site.asked;
    controller.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
  });
});

describe('the text of a page', () => {
  it.each([
    ['<p>one</p><p>two<br>three</p>', 'one\n\ntwo\nthree'],
    ['<script>if (a < b) {}</script>x<style>p{}</style>y', 'x\ny'],
    ['<ul><li>a</li><LI>b</LI></ul>', '- a\n\n- b'],
    ['a <!-- <b> --> c', 'a c'],
    ['1 < 2 & 3 > 2 &amp;&nbsp;&#65;&#x42;&unknown;&#0;', '1 < 2 & 3 > 2 & AB&unknown;&#0;'],
    ['<a href="x?a&amp;b">link</a> text', '[link](https://a.test/b/x?a&b) text'],
    ['<a href="x"><img></a><a href=#y>y</a><a href="javascript:z">z</a>', 'yz'],
    ['<a href=x>one<a href=/y>two', '[one](https://a.test/b/x)[two'],
    ['<h2>a</h2>b <code>c</code>', '## a\nb `c`'],
    ['<pre>if a:\n  b  &lt; c\n</pre>d', '```\nif a:\n  b  < c\n\n```\nd'],
    ['<tr><td>a<td>b</tr>', '| a | b'],
    ['İİ<SCRIPT>x</SCRIPT>y', 'İİ\ny'],
    ['never closed <script>x', 'never closed'],
    ['never closed <a', 'never closed'],
    ['', ''],
  ])('%s', (html, text) => {
    expect(markdownOfHtml({ html, base: 'https://a.test/b/' })).toBe(text);
  });

  it('takes pages that are long on purpose', () => {
    for (const unit of [
      '<',
      '<script>',
      '<!--',
      '&#',
      '<a ',
      '</',
      '\n',
      ' \n',
      '<a href=x>',
      '<pre>',
      '<a href="',
    ]) {
      const html = unit.repeat(100_000);
      expect(markdownOfHtml({ html, base: 'https://a.test/' }).length).toBeLessThan(5_000_000);
    }
  });
});

const ALL: Omit<Visit, 'net'> = { mayFetch: () => true, signal: new AbortController().signal };

async function failureOf(reading: Promise<string>): Promise<ToolFailure> {
  const error = await reading.then(
    (text) => new Error(`it was read: ${text}`),
    (reason) => reason,
  );
  if (!(error instanceof ToolFailure)) throw error;
  return error;
}

/** A site on this machine that counts as public. */
async function startSite(listener: RequestListener) {
  const asked = Promise.withResolvers<void>();
  const site = { hits: 0, asked: asked.promise };
  const server = createServer((request, response) => {
    site.hits++;
    asked.resolve();
    listener(request, response);
  });
  const port = await portOf(server);
  const net = { lookup: resolving(['127.0.0.1']), isPublic: () => true, isWebPort: () => true };
  return Object.assign(site, {
    port,
    net,
    url: (path: string) => `http://127.0.0.1:${port}${path}`,
  });
}

/** Answers each look-up with the next of these lists, and then with the last. */
function resolving(...answers: string[][]): LookupFunction {
  let count = 0;
  return (_, __, done) => {
    const addresses = answers[Math.min(count++, answers.length - 1)] ?? [];
    done(
      null,
      addresses.map((address) => ({ address, family: 4 })),
    );
  };
}

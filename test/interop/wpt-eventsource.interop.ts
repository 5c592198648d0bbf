/** The web platform's tests of how an event stream is read, run as they are, with client/sse.ts as the reader. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../client/clock.ts';
import { readFrames } from '../../client/sse.ts';
import { listen, type PageServer } from '../browser/page-server.ts';
import { foreignClone } from './foreign-packages.ts';
import { leftBecause, row } from './table.ts';

const CLONE = await foreignClone('WPT', 'web-platform-tests/wpt', 'eventsource/format-bom.any.js');

const ONLY_POSITIONS =
  'an id that is no position, or empty, is read as none: the server sends none';

/** The files about the format, each with the reason why it does not pass; null for one that passes. */
const FILES: Readonly<Record<string, string | null>> = {
  'event-data.any.js': null,
  'format-bom.any.js': null,
  'format-bom-2.any.js': null,
  'format-comments.any.js': null,
  'format-data-before-final-empty-line.any.js': null,
  'format-field-data.any.js': null,
  'format-field-event.any.js': null,
  'format-field-event-empty.any.js': null,
  'format-field-id.any.js': ONLY_POSITIONS,
  'format-field-id-2.any.js': ONLY_POSITIONS,
  'format-field-id-3.window.js': ONLY_POSITIONS,
  'format-field-id-null.window.js': null,
  'format-field-parsing.any.js': null,
  'format-field-retry.any.js': null,
  'format-field-retry-bogus.any.js': null,
  'format-field-retry-empty.any.js': null,
  'format-field-unknown.any.js': null,
  'format-leading-space.any.js': null,
  'format-newlines.any.js': null,
  'format-null-character.any.js': null,
  'format-utf-8.any.js': null,
};

const stated = row({
  suite: 'Web Platform Tests, eventsource (the format)',
  version: CLONE.version || '-',
  notRun: CLONE.notRun,
});

describe('the web platform’s tests', stated, () => {
  let server: PageServer;
  beforeAll(async () => {
    server = await serveStreams();
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
  });

  for (const [file, reason] of Object.entries(FILES)) {
    it(file, leftBecause(reason), async () => {
      const outcome = await runFile(file, server.origin).then(
        () => 'passes',
        (error: unknown) => String(error),
      );
      if (reason === null) expect(outcome).toBe('passes');
      else expect(outcome).not.toBe('passes');
    });
  }
});

/** Resolves when each test of the file has passed. */
async function runFile(file: string, origin: string): Promise<void> {
  const ended = new AbortController();
  const tests: Promise<void>[] = [];
  const script = readFileSync(join(CLONE.folder, 'eventsource', file), 'utf8');
  runInNewContext(script, {
    EventSource: sourcesOf(`${origin}/eventsource/`, ended.signal),
    async_test: (work?: unknown) => {
      const test = new FileTest();
      tests.push(test.ended);
      if (typeof work === 'function') test.step(() => work(test));
      return test;
    },
    assert_equals: (one: unknown, other: unknown) => expect(one).toBe(other),
    assert_true: (given: unknown) => expect(given).toBe(true),
    assert_false: (given: unknown) => expect(given).toBe(false),
    assert_unreached: (why = 'was reached') => expect.fail(String(why)),
  });
  expect(tests.length).toBeGreaterThan(0);
  try {
    const late = sleep(TEST_MS, undefined, { signal: ended.signal }).then(() =>
      expect.fail('it never ended'),
    );
    await Promise.race([Promise.all(tests), late]);
  } finally {
    ended.abort();
  }
}

/** A file waits at most twice for three seconds. */
const TEST_MS = 20_000;

/** What a file gets of testharness.js for one of its tests. */
class FileTest {
  readonly #ended = Promise.withResolvers<void>();

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  step(work: (...args: unknown[]) => unknown, self: unknown = this, ...args: unknown[]): void {
    try {
      work.apply(self, args);
    } catch (error) {
      this.#ended.reject(error);
    }
  }

  step_func(work: (...args: unknown[]) => unknown) {
    return (...args: unknown[]) => this.step(work, this, ...args);
  }

  add_cleanup(): void {}

  done(): void {
    this.#ended.resolve();
  }
}

type Listener = (event: object) => void;

/** The class as far as the files use it. Each connection is read by `readFrames`. */
function sourcesOf(base: string, fileEnded: AbortSignal) {
  return class {
    onopen: Listener | null = null;
    onmessage: Listener | null = null;
    onerror: Listener | null = null;
    readonly #listeners: [type: string, listener: Listener][] = [];
    readonly #closed = new AbortController();
    #retryMs = FIRST_RETRY_MS;
    #lastEventId = '';

    constructor(url: string) {
      void this.#live(new URL(url, base)).catch(() => this.#emit('error', {}));
    }

    addEventListener(type: string, listener: Listener): void {
      this.#listeners.push([type, listener]);
    }

    close(): void {
      this.#closed.abort();
    }

    #emit(type: string, event: object): void {
      if (this.#closed.signal.aborted) return;
      const own = { open: this.onopen, message: this.onmessage, error: this.onerror }[type];
      own?.call(this, event);
      for (const [of, listener] of this.#listeners) if (of === type) listener.call(this, event);
    }

    async #live(url: URL): Promise<void> {
      const signal = AbortSignal.any([this.#closed.signal, fileEnded]);
      while (!signal.aborted) {
        const headers = this.#lastEventId === '' ? {} : { 'last-event-id': this.#lastEventId };
        const { body, ok } = await fetch(url, { headers, signal });
        if (!ok || body === null) return this.#emit('error', {});
        this.#emit('open', {});
        const read = (): never => {
          throw new Error('It is read as text.');
        };
        const onRetry = (ms: number) => {
          this.#retryMs = ms;
        };
        for await (const frame of readFrames(body, { read, clock: systemClock, signal, onRetry })) {
          const { name: type = '', data } = Object(frame.event);
          this.#lastEventId = frame.position?.toString() ?? this.#lastEventId;
          this.#emit(type, { type, data, lastEventId: this.#lastEventId });
        }
        await sleep(this.#retryMs, undefined, { signal });
      }
    }
  };
}

const FIRST_RETRY_MS = 100;

/** The streams that the files ask for. */
async function serveStreams(): Promise<PageServer> {
  return await listen((request, response) => {
    const { pathname, searchParams: given } = new URL(request.url ?? '', 'http://localhost');
    const { 'last-event-id': lastId } = request.headers;
    const streams: Record<string, () => string> = {
      'message.py': () =>
        `${given.get('message')}${given.get('newline') === 'none' ? '' : '\n\n'}\n`,
      'message2.py': () =>
        'data:msg\ndata: msg\n\n:\nfalsefield:msg\n\nfalsefield:msg\nData:data\n\ndata\n\ndata:end\n\n',
      'last-event-id.py': () =>
        lastId === undefined
          ? `id: ${given.get('idvalue') ?? '…'}\nretry: 200\ndata: hello\n\n`
          : `data: ${lastId}\n\n`,
      'last-event-id2.py': () =>
        given.get('type') === '1'
          ? 'id: 1\ndata: 1\n\ndata: 2\n\nid: 2\ndata: 3\n\ndata: 4\n\n'
          : `id: 1\ndata: 1\n\nid${given.get('type') === '2' ? ':' : ''}\ndata: 2\n\ndata: 3\n\n`,
    };
    const stream = streams[pathname.replace('/eventsource/resources/', '')];
    response.statusCode = stream ? 200 : 404;
    response.setHeader('content-type', given.get('mime') ?? 'text/event-stream');
    response.end(stream?.());
  });
}

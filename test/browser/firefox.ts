/** A page in Debian's Firefox, over WebDriver BiDi: Playwright's own ways need another or a newer Firefox. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';
import * as z from 'zod';

/** Where Debian's package puts it. */
const FIREFOX = '/usr/bin/firefox-esr';

/** Why tests with Firefox cannot run here, for their title; undefined where they can. */
export const NO_FIREFOX = existsSync(FIREFOX) ? undefined : 'skipped: Firefox is not installed';

export interface FirefoxPage extends AsyncDisposable {
  /** Errors of scripts and violations of the page's policy so far, of every document. */
  readonly faults: readonly string[];
  /** Resolves when the document is loaded. */
  goto(url: string): Promise<void>;
  reload(): Promise<void>;
  /** The JSON of what the expression is, or becomes. */
  evaluate(expression: string): Promise<unknown>;
  /** A press of the mouse on the element that the expression is. Rejects while there is none. */
  click(expression: string): Promise<void>;
  /** Keys, to the element that has the focus. */
  type(text: string): Promise<void>;
}

/** Starts a headless Firefox with an empty profile, and opens its one page. Disposal ends it. */
export async function openFirefox(): Promise<FirefoxPage> {
  const profile = mkdtempSync(join(tmpdir(), 'drawbridge-firefox-'));
  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'];
  // Its home is the profile too: Firefox refuses a home that another user owns.
  const child = spawn(FIREFOX, args, {
    env: { ...process.env, HOME: profile },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const wire = await connect(`${await addressOf(child)}/session`);
  await wire.send('session.new', { capabilities: {} });
  await wire.send('session.subscribe', { events: ['log.entryAdded', 'script.message'] });
  const faultsOfDocument = { functionDeclaration: REPORT_VIOLATIONS, arguments: [CHANNEL] };
  await wire.send('script.addPreloadScript', faultsOfDocument);
  const { context } = Created.parse(await wire.send('browsingContext.create', { type: 'tab' }));
  const run = async (expression: string, awaitPromise: boolean) => {
    const target = { context };
    const asked = { expression, target, awaitPromise, userActivation: true };
    return Evaluated.parse(await wire.send('script.evaluate', asked)).result;
  };
  const perform = (source: object) =>
    wire.send('input.performActions', { context, actions: [source] });
  return {
    faults: wire.faults,
    goto: async (url) => {
      await wire.send('browsingContext.navigate', { context, url, wait: 'complete' });
    },
    reload: async () => {
      await wire.send('browsingContext.reload', { context, wait: 'complete' });
    },
    evaluate: async (expression) => {
      const { value } = await run(`(async () => JSON.stringify(await (${expression})))()`, true);
      return value === undefined ? undefined : JSON.parse(z.string().parse(value));
    },
    click: async (expression) => {
      const { sharedId } = await run(expression, false);
      if (sharedId === undefined) throw new Error(`There is no ${expression}`);
      const origin = { type: 'element', element: { sharedId } };
      await perform({
        type: 'pointer',
        id: 'mouse',
        actions: [
          { type: 'pointerMove', x: 0, y: 0, origin },
          { type: 'pointerDown', button: 0 },
          { type: 'pointerUp', button: 0 },
        ],
      });
    },
    type: async (text) => {
      const press = (value: string) => [
        { type: 'keyDown', value },
        { type: 'keyUp', value },
      ];
      await perform({ type: 'key', id: 'keyboard', actions: [...text].flatMap(press) });
    },
    [Symbol.asyncDispose]: async () => {
      const exited = once(child, 'exit');
      await wire.send('browser.close', {});
      await exited;
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

const CHANNEL = { type: 'channel', value: { channel: 'faults' } };

/** Runs in each document before the page's own scripts. */
const REPORT_VIOLATIONS = `(report) => {
  addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) =>
    report(effectiveDirective + ' ' + blockedURI));
}`;

const Created = z.object({ context: z.string() });
/** Of the kinds of values only what {@link FirefoxPage} returns: texts and nodes. */
const Evaluated = z.object({
  result: z.object({ value: z.unknown().optional(), sharedId: z.string().optional() }),
});

/** The address that it says it listens at. */
async function addressOf(child: ChildProcess): Promise<string> {
  if (!child.stderr) throw new Error('Firefox has no stderr.');
  for await (const line of createInterface({ input: child.stderr })) {
    const [address] = /ws:\/\/\S+/.exec(line) ?? [];
    if (!address) continue;
    child.stderr.resume();
    return address;
  }
  throw new Error('Firefox ended before it listened.');
}

const Message = z.discriminatedUnion('type', [
  z.object({ type: z.literal('success'), id: z.number(), result: z.unknown() }),
  z.object({ type: z.literal('error'), id: z.number().nullable(), message: z.string() }),
  z.object({
    type: z.literal('event'),
    method: z.string(),
    params: z.object({
      /** Of `log.entryAdded`: `javascript` is an error that no script caught. */
      type: z.string().optional(),
      text: z.string().nullable().optional(),
      /** Of `script.message`. */
      data: z.object({ value: z.unknown() }).optional(),
    }),
  }),
]);

interface Wire {
  readonly faults: readonly string[];
  send(method: string, params: object): Promise<unknown>;
}

async function connect(url: string): Promise<Wire> {
  const socket = new WebSocket(url);
  await once(socket, 'open');
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const faults: string[] = [];
  socket.on('message', (data) => {
    const message = Message.parse(JSON.parse(String(data)));
    if (message.type === 'event') {
      const { type, text, data: sent } = message.params;
      if (type === 'javascript') faults.push(text ?? '');
      if (sent) faults.push(String(sent.value));
      return;
    }
    const command = waiting.get(message.id ?? -1);
    if (message.type === 'success') command?.resolve(message.result);
    else command?.reject(new Error(message.message));
  });
  let count = 0;
  return {
    faults,
    send: async (method, params) => {
      const command = Promise.withResolvers<unknown>();
      waiting.set(++count, command);
      socket.send(JSON.stringify({ id: count, method, params }));
      return await command.promise;
    },
  };
}

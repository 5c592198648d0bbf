/** opencode's web page, which its program serves. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import * as z from 'zod';
import { openTemporaryFolder } from '../folder.ts';
import { type Asked, endOf, messageOf } from './asked.ts';
import { markdownOf } from './markdown.ts';
import type { Side } from './side.ts';

/** The package has the program alone, and no script. */
const PACKAGE = 'opencode-linux-x64';
const VERSION = '1.18.33';
const PEERS = join(import.meta.dirname, '..', '..', '.build', 'peers');
const PROGRAM = join(PEERS, 'node_modules', PACKAGE, 'bin', 'opencode');

const run = promisify(execFile);

/** How its terminal is started at the server. */
export interface Attaching {
  readonly program: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Installs it once (180 MB). */
export async function startOpencode(upstreamUrl: string): Promise<Side & { attach: Attaching }> {
  if (!existsSync(PROGRAM)) await install();
  const folder = openTemporaryFolder();
  const [home, workspace] = [join(folder.path, 'home'), join(folder.path, 'workspace')];
  for (const path of [home, workspace]) mkdirSync(path);
  writeFileSync(join(workspace, 'opencode.json'), JSON.stringify(configOf(upstreamUrl)));
  const options = { cwd: workspace, env: { PATH: process.env['PATH'], HOME: home } };
  const server = spawn(PROGRAM, ['serve', '--port', '0'], options);
  const url = await addressIn(server.stdout);
  const sessionUrl = `${url}/${Buffer.from(workspace).toString('base64url')}/session`;
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    const sent = { method: 'POST', headers, body: JSON.stringify(body) };
    return (await fetch(`${url}/${path}`, sent)).json();
  };
  return {
    name: `opencode ${VERSION}`,
    answers: '[data-component=markdown]',
    composer: '[data-component=prompt-input]',
    attach: {
      program: [PROGRAM, 'attach', url, '--dir', workspace],
      cwd: workspace,
      env: { HOME: home },
    },
    stillUrl: `${url}/favicon-v3.svg`,
    async enter(page) {
      await page.goto(sessionUrl);
      await page.waitForSelector('[data-component=prompt-input]');
    },
    async converse([first = NOTHING, ...more]) {
      const { id } = Made.parse(await post('session', {}));
      await post(`session/${id}/message`, { parts: [{ type: 'text', text: messageOf(first) }] });
      if (more.length > 0) {
        const { stdout } = await run(PROGRAM, ['export', id], { ...options, maxBuffer: 2 ** 28 });
        const file = join(folder.path, 'session.json');
        writeFileSync(file, JSON.stringify(continued(Exported.parse(JSON.parse(stdout)), more)));
        await run(PROGRAM, ['import', file], options);
      }
      return `${sessionUrl}/${id}`;
    },
    [Symbol.asyncDispose]: async () => {
      const exited = once(server, 'exit');
      server.kill();
      await exited;
      folder[Symbol.dispose]();
    },
  };
}

async function install(): Promise<void> {
  mkdirSync(PEERS, { recursive: true });
  const flags = ['--prefix', PEERS, '--no-audit', '--no-fund', '--ignore-scripts', '--no-save'];
  await run('npm', ['install', ...flags, `${PACKAGE}@${VERSION}`], { cwd: PEERS });
}

function configOf(baseURL: string) {
  const limit = { context: 10_000_000, output: 100_000 };
  const scripted = {
    npm: '@ai-sdk/openai-compatible',
    options: { baseURL, apiKey: 'sk-scripted' },
    models: { scripted: { name: 'scripted', limit } },
  };
  const model = 'scripted/scripted';
  return {
    autoupdate: false,
    share: 'disabled',
    snapshot: false,
    enabled_providers: ['scripted'],
    provider: { scripted },
    model,
    small_model: model,
  };
}

async function addressIn(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const [address] = /http:\/\/127\S+/.exec(line) ?? [];
    if (!address) continue;
    output.resume();
    return address;
  }
  throw new Error('opencode ended before it listened.');
}

const NOTHING: Asked = { id: 0, chars: 100, tokensPerSecond: 0 };

const Made = z.object({ id: z.string() });
const Time = z.looseObject({ created: z.number() });
const Exported = z.looseObject({
  messages: z.array(
    z.looseObject({
      info: z.looseObject({ id: z.string(), time: Time }),
      parts: z.array(z.looseObject({ id: z.string(), type: z.string() })),
    }),
  ),
});

/** The session with more exchanges: copies of its first one with other words. */
function continued(session: z.infer<typeof Exported>, more: readonly Asked[]) {
  const [question, answer] = session.messages;
  if (!question || !answer) throw new Error('opencode exported no exchange.');
  const [, newest = ''] = answer.info.id.split('_');
  let count = 0;
  /** Ids are ordered by their twelve hexadecimal digits. */
  const newId = (kind: string) => {
    const place = BigInt(`0x${newest.slice(0, 12)}`) + BigInt(++count) * 0x1000n;
    return `${kind}_${place.toString(16).padStart(12, '0')}${newest.slice(12)}`;
  };
  const copyOf = ({ info, parts }: typeof question, text: string, parentID?: string) => {
    const messageID = newId('msg');
    const time = { ...info.time, created: answer.info.time.created + count };
    return {
      info: { ...info, id: messageID, time, ...(parentID !== undefined && { parentID }) },
      parts: parts.map((part) => ({
        ...part,
        id: newId('prt'),
        messageID,
        ...(part.type === 'text' && { text }),
      })),
    };
  };
  const messages = more.flatMap((asked) => {
    const said = copyOf(question, messageOf(asked));
    return [said, copyOf(answer, markdownOf(asked.chars, endOf(asked)), said.info.id)];
  });
  return { ...session, messages: [question, answer, ...messages] };
}

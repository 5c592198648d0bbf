import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Packed, pack, problemsOf, ROOT } from './pack.ts';

const PACK_MS = 60_000;
/** What the package may add to a web page, gzipped. */
const MAX_BYTES = 15.5 * 1024;

describe('the package drawbridge-client', () => {
  let folder: string;
  let packed: Packed;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'drawbridge-client-'));
    packed = await pack(join(ROOT, 'client'), folder);
    const installed = join(folder, 'node_modules', 'drawbridge-client');
    mkdirSync(installed, { recursive: true });
    execFileSync('tar', ['-xf', packed.tarball, '--strip-components=1', '-C', installed]);
  }, PACK_MS);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('has only what is needed', () => {
    const others = packed.files.filter((file) => !file.startsWith('dist/types/'));
    expect(others).toEqual([
      ...['LICENSE', 'README.md', 'dist/THIRD-PARTY-LICENSES.txt', 'dist/embed.js'],
      ...['dist/index.js', 'package.json'],
    ]);
    expect(packed.files.filter((file) => !/\.d\.ts$/.test(file))).toEqual(others);
    const licence = readFileSync(join(ROOT, 'LICENSE'), 'utf8');
    expect(readFileSync(join(ROOT, 'client', 'LICENSE'), 'utf8')).toBe(licence);
  });

  test('has the version of the server that it speaks with', () => {
    const versions = ['package.json', 'client/package.json'].map(
      (file) => JSON.parse(readFileSync(join(ROOT, file), 'utf8')).version,
    );
    expect(versions[1]).toBe(versions[0]);
  });

  test('has no problem for the tools that check packages', async () => {
    expect(await problemsOf(packed)).toEqual([]);
  });

  test('is less than 16 KB of a web page', async () => {
    const { outputFiles } = await build({
      stdin: { contents: "export * from 'drawbridge-client';", resolveDir: folder },
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
    });
    expect(gzipSync(outputFiles[0]?.contents ?? '').length).toBeLessThan(MAX_BYTES);
  });

  test.each([
    { where: 'a browser', lib: ['es2022', 'dom', 'dom.asynciterable'], types: [] },
    { where: 'Node', lib: ['es2022'], types: ['node'] },
    { where: 'a Worker', lib: ['es2022'], types: ['@cloudflare/workers-types'] },
  ])('declares its types for $where, without another package', ({ lib, types }) => {
    writeFileSync(join(folder, 'app.ts'), APP);
    compile({ lib, types }, ['app.ts']);
  });

  test('declares the types of the element for a browser', () => {
    writeFileSync(join(folder, 'element.ts'), ELEMENT);
    const lib = ['es2022', 'dom', 'dom.asynciterable'];
    compile({ lib, types: [] }, ['element.ts']);
  });

  test('declares the types of its sources', () => {
    writeFileSync(join(folder, 'same.ts'), SAME);
    compile({ lib: ['es2024', 'esnext.disposable'], types: ['node'], skipLibCheck: true }, [
      'same.ts',
    ]);
  });

  function compile(options: object, files: readonly string[]): void {
    for (const name of ['@types', '@cloudflare', 'undici-types']) linkPackage(name);
    const strict = { strict: true, exactOptionalPropertyTypes: true, noEmit: true };
    const modules = { module: 'nodenext', target: 'es2022', allowImportingTsExtensions: true };
    const compilerOptions = { ...strict, ...modules, ...options };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    try {
      execFileSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
    } catch (error) {
      throw new Error(String(Object(error).stdout));
    }
  }

  function linkPackage(name: string): void {
    const link = join(folder, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    rmSync(link, { force: true });
    symlinkSync(join(ROOT, 'node_modules', name), link);
  }
});

/** What an app does with the types. */
const APP = `
import { type ChatResponse, ClientError, createClient, foldEvent, newResponse } from 'drawbridge-client';

const client = createClient({ url: 'https://example.com', token: async (refused) => refused ?? 'x' });
const { signal } = new AbortController();

export async function answer(content: string): Promise<ChatResponse | undefined> {
  let response: ChatResponse | undefined;
  for await (const { event } of client.streamChat({ messages: [{ role: 'user', content }] }, { signal })) {
    if (event.type === 'response_start') response = newResponse(event.response);
    else if (event.type === 'unknown') console.log(event.name, event.data);
    else if (response) foldEvent(response, event);
  }
  // @ts-expect-error There is no such role.
  await client.chat({ messages: [{ role: 'nobody', content }] });
  return response;
}

export const codeOf = (error: unknown) => (error instanceof ClientError ? error.code : null);
`;

const ELEMENT = `
import { DrawbridgeThread, type ConversationEvent } from 'drawbridge-client/embed';

const element: DrawbridgeThread = document.createElement('drawbridge-thread');
element.server = 'https://example.com';
element.token = async (refused) => refused ?? 'x';
element.conversation = null;
element.addEventListener('conversation', (event) => {
  const id: string = (event as ConversationEvent).detail.id;
  console.log(id);
});
// @ts-expect-error A token is no number.
element.token = 1;
`;

/** Fails to compile where the built types and those of the sources differ. */
const SAME = `
import type * as built from 'drawbridge-client';
import type * as source from '${ROOT}/client/index.ts';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type AreSame<A, B> = { [Name in keyof A]: Name extends keyof B ? Same<A[Name], B[Name]> : false };

interface Built {
  agent: built.Agent;
  chatInput: built.ChatInput;
  conversationView: built.ConversationView;
  event: built.StreamEvent;
  proposal: built.Proposal;
  response: built.ChatResponse;
  usage: built.UsageEntry;
}
interface Source {
  agent: source.Agent;
  chatInput: source.ChatInput;
  conversationView: source.ConversationView;
  event: source.StreamEvent;
  proposal: source.Proposal;
  response: source.ChatResponse;
  usage: source.UsageEntry;
}
export const same: AreSame<Built, Source> = {
  agent: true,
  chatInput: true,
  conversationView: true,
  event: true,
  proposal: true,
  response: true,
  usage: true,
};
export const toSource = (client: built.Client): source.Client => client;
export const toBuilt = (client: source.Client): built.Client => client;
`;

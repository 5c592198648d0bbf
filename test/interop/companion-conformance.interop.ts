import { execFile } from 'node:child_process';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { CompanionServer } from '../../companion/index.ts';
import { startCompanion, tokenOf } from '../companion/companions.ts';
import { type ForeignPackages, installPackages } from './foreign-packages.ts';

const PACKAGE = '@modelcontextprotocol/conformance';
const VERSION = '0.1.16';

const SCENARIOS = [
  ...['server-initialize', 'ping', 'tools-list', 'tools-call-error'],
  'server-sse-multiple-streams',
];

/** The other scenarios of the package. */
const NOT_FOR_A_COMPANION = {
  'dns-rebinding-protection': 'its second half wants a web page of localhost to be let in',
  'server-sse-polling': 'it passes without a look, because the answers are JSON and no streams',
  'tools-call-*, json-schema-2020-12, elicitation-*': 'call tools of the package’s own server',
  'resources-*, prompts-*, completion-complete, logging-set-level': 'a companion has none of them',
};

/** The package can send no token, so a proxy adds it. */
async function openProxy(companion: CompanionServer): Promise<string> {
  const authorization = `Bearer ${tokenOf(companion, 'gemini')}`;
  const { port } = companion;
  const proxy = createServer((incoming, outgoing) => {
    const { method, url: path, headers: given } = incoming;
    const headers = { ...given, authorization, host: `127.0.0.1:${port}` };
    const passed = request({ host: '127.0.0.1', port, path, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    outgoing.on('close', () => passed.destroy());
    incoming.pipe(passed);
  });
  onTestFinished(() => void proxy.close().closeAllConnections());
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${Object(proxy.address()).port}/mcp`;
}

describe(`the companion and ${PACKAGE} ${VERSION}`, () => {
  const table: Record<string, string> = {};
  let packages: ForeignPackages;

  beforeAll(async () => {
    packages = await installPackages([`${PACKAGE}@${VERSION}`]);
  });
  afterAll(async () => {
    await packages[Symbol.asyncDispose]();
    console.table({ ...table, ...NOT_FOR_A_COMPANION });
  });

  it.each(SCENARIOS)('%s', async (scenario) => {
    table[scenario] = 'no';
    const { companion } = await startCompanion();
    const args = ['server', '--url', await openProxy(companion), '--scenario', scenario];
    const program = join(packages.folder, 'node_modules', PACKAGE, 'dist', 'index.js');
    const run = promisify(execFile)(process.execPath, [program, ...args], { cwd: packages.folder });
    const { stdout } = await run.catch(({ stdout }) => ({ stdout: String(stdout) }));
    expect(stdout).toMatch(/Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/);
    table[scenario] = 'yes';
  });
});

import { execFile } from 'node:child_process';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { CompanionServer } from '../../packages/editors/companion/index.ts';
import { startCompanion, tokenOf } from '../../packages/editors/test/companion/companions.ts';
import { type ForeignPackages, installPackages, NO_REGISTRY } from './foreign-packages.ts';
import { leftBecause, row } from './table.ts';

const PACKAGE = '@modelcontextprotocol/conformance';
const VERSION = '0.2.0-alpha.12';

const STATEFUL =
  'the companion speaks MCP up to 2025-11-25, because it answers diffs in the stream of a session';

/** What each version requires of any server, each with the reason why the companion does not pass it; null if it does. */
const REQUIRED: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
  '2025-11-25': {
    'server-initialize': null,
    ping: null,
    'tools-list': null,
    'tools-call-error': null,
    'server-sse-multiple-streams': null,
    'dns-rebinding-protection': 'its second half wants a web page of localhost to be let in',
  },
  '2026-07-28': {
    'server-stateless': STATEFUL,
    'tools-list': STATEFUL,
    'tools-call-error': STATEFUL,
    'server-sse-multiple-streams': STATEFUL,
    'dns-rebinding-protection': STATEFUL,
    caching: STATEFUL,
  },
};

/** The others want tools, resources or prompts with certain names, which only the package's own server has. */
const OF_ITS_SERVER =
  /^(?:tools-call-(?!error)|resources-|prompts-|completion-|elicitation-|input-required-|logging-|sep-2164-)/;

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

describe.skipIf(NO_REGISTRY)(`the companion and ${PACKAGE} ${VERSION}`, () => {
  let packages: ForeignPackages;

  beforeAll(async () => {
    packages = await installPackages([`${PACKAGE}@${VERSION}`]);
  });
  afterAll(async () => {
    await packages[Symbol.asyncDispose]();
  });

  const run = async (...args: string[]) => {
    const program = join(packages.folder, 'node_modules', PACKAGE, 'dist', 'index.js');
    const ran = promisify(execFile)(process.execPath, [program, ...args], { cwd: packages.folder });
    return await ran.then(({ stdout }) => stdout).catch(({ stdout }) => String(stdout));
  };

  it.each(Object.entries(REQUIRED))(
    'has a row here for all that %s requires',
    async (version, of) => {
      const stdout = await run('list', '--server', '--requirements', version);
      const [, ofServer = ''] = stdout.split('Server scenarios');
      const [listed = ''] = ofServer.split('Client scenarios');
      const names = [...listed.matchAll(/^ {2}- (\S+)/gm)].map(([, name = '']) => name);
      const ofAny = names.filter((name) => !OF_ITS_SERVER.test(name));
      expect(Object.keys(of).sort()).toEqual(ofAny.sort());
    },
  );

  for (const [version, scenarios] of Object.entries(REQUIRED)) {
    const suite = `MCP conformance, server, ${version}`;
    describe(suite, row({ suite, version: VERSION, notRun: NO_REGISTRY }), () => {
      for (const [scenario, reason] of Object.entries(scenarios)) {
        it(scenario, leftBecause(reason), async () => {
          const { companion } = await startCompanion();
          const url = await openProxy(companion);
          const chosen = ['--scenario', scenario, '--spec-version', version];
          const stdout = await run('server', '--url', url, ...chosen);
          const passed = /Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/.test(stdout);
          expect(passed).toBe(reason === null);
        });
      }
    });
  }
});

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ForeignPackages, installPackages } from './foreign-packages.ts';

const VERSION = '0.1.16';
const NODE = join(import.meta.dirname, '../../node_modules/.bin/node');
const CLIENT = join(import.meta.dirname, 'mcp-client.ts');

/** Scenarios that the suite has for clients, each with the reason why ours does not pass it; null for one that passes. */
const SCENARIOS: Readonly<Record<string, string | null>> = {
  initialize: null,
  tools_call: null,
  'elicitation-sep1034-client-defaults': null,
  'sse-retry': null,
  'auth/metadata-default': null,
  'auth/metadata-var1': null,
  'auth/metadata-var2': null,
  'auth/metadata-var3': null,
  'auth/basic-cimd': 'a warning: Drawbridge has no public web page that could be its client id',
  'auth/scope-from-www-authenticate': null,
  'auth/scope-from-scopes-supported': null,
  'auth/scope-omitted-when-undefined': null,
  'auth/scope-step-up':
    'a call that needs more rights fails: no person logs in in the middle of it',
  'auth/scope-retry-limit': null,
  'auth/token-endpoint-auth-basic': null,
  'auth/token-endpoint-auth-post': null,
  'auth/token-endpoint-auth-none': null,
  'auth/pre-registration': null,
  'auth/2025-03-26-oauth-metadata-backcompat':
    'its metadata names another issuer than its address, which RFC 8414 forbids',
  'auth/2025-03-26-oauth-endpoint-fallback': null,
  'auth/resource-mismatch': null,
  'auth/offline-access-scope': null,
  'auth/offline-access-not-supported': null,
  'auth/client-credentials-jwt': 'an extension for programs without a person',
  'auth/client-credentials-basic': 'an extension for programs without a person',
  'auth/cross-app-access-complete-flow': 'an extension for companies with one login for all',
};

describe('the MCP client of the bridge, in the conformance suite', () => {
  let packages: ForeignPackages;
  const seen: [scenario: string, outcome: string, reason: string | null][] = [];

  beforeAll(async () => {
    packages = await installPackages([`@modelcontextprotocol/conformance@${VERSION}`]);
  });
  afterAll(async () => {
    console.log(seen.map((row) => row.filter((cell) => cell !== null).join('\t')).join('\n'));
    await packages[Symbol.asyncDispose]();
  });

  const run = async (...args: string[]) =>
    await promisify(execFile)(NODE, [packages.program('conformance'), ...args], {
      timeout: 60_000,
    });

  it('has a row here for each scenario', async () => {
    const { stdout } = await run('list', '--client');
    const listed = [...stdout.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name);
    expect(Object.keys(SCENARIOS)).toEqual(listed);
  });

  it.each(Object.entries(SCENARIOS))('%s', async (scenario, reason) => {
    const command = `${NODE} ${CLIENT}`;
    const outcome = await run('client', '--command', command, '--scenario', scenario).then(
      () => 'passes',
      () => 'does not pass',
    );
    seen.push([scenario, outcome, reason]);
    expect(outcome).toBe(reason === null ? 'passes' : 'does not pass');
  });
});

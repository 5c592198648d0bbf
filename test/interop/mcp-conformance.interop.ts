import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ForeignPackages, installPackages, NO_REGISTRY } from './foreign-packages.ts';
import { leftBecause, row } from './table.ts';

const VERSION = '0.2.0-alpha.12';
const NODE = join(import.meta.dirname, '../../node_modules/.bin/node');
const CLIENT = join(import.meta.dirname, 'mcp-client.ts');

/** Scenarios that the suite has for clients, each with the reason why ours does not pass it; null for one that passes. */
type Scenarios = Readonly<Record<string, string | null>>;

const NO_PERSON = 'an extension for programs without a person';
const NO_PROOF = 'an extension: tokens that are bound to a key';
const NO_SKILLS = 'an extension: skills come from the workspace, not from MCP servers';

/** Of every version since 2025-11-25. */
const LASTING: Scenarios = {
  tools_call: null,
  'auth/metadata-default': null,
  'auth/metadata-var1': null,
  'auth/metadata-var2': null,
  'auth/metadata-var3': null,
  'auth/basic-cimd': 'a warning: Drawbridge has no public web page that could be its client id',
  'auth/scope-from-www-authenticate': null,
  'auth/scope-from-scopes-supported': null,
  'auth/scope-omitted-when-undefined': null,
  'auth/scope-step-up': null,
  'auth/scope-retry-limit': null,
  'auth/token-endpoint-auth-basic': null,
  'auth/token-endpoint-auth-post': null,
  'auth/token-endpoint-auth-none': null,
  'auth/pre-registration': null,
};

/** What each version requires, as the suite lists it. */
const REQUIRED: Readonly<Record<string, Scenarios>> = {
  '2025-11-25': {
    ...LASTING,
    initialize: null,
    'elicitation-sep1034-client-defaults': null,
    'sse-retry': null,
  },
  '2026-07-28': {
    ...LASTING,
    'request-metadata': null,
    'auth/resource-mismatch': null,
    'auth/offline-access-scope': null,
    'auth/offline-access-not-supported': null,
    'auth/authorization-server-migration': null,
    'auth/iss-supported': null,
    'auth/iss-not-advertised': null,
    'auth/iss-supported-missing': null,
    'auth/iss-wrong-issuer': null,
    'auth/iss-unexpected': null,
    'auth/iss-normalized': null,
    'auth/metadata-issuer-mismatch': null,
    'sep-2322-client-request-state': null,
    'http-standard-headers': null,
    'http-custom-headers': null,
    'http-invalid-tool-headers': null,
    'json-schema-ref-no-deref': null,
  },
};

/** The rest: of an older version, of later than its version, and extensions. */
const OTHERS: Scenarios = {
  'auth/2025-03-26-oauth-metadata-backcompat': null,
  'auth/2025-03-26-oauth-endpoint-fallback': null,
  'json-schema-2020-12-preservation': null,
  'auth/client-credentials-jwt': NO_PERSON,
  'auth/client-credentials-basic': NO_PERSON,
  'auth/enterprise-managed-authorization': 'an extension for companies with one login for all',
  'auth/dpop': NO_PROOF,
  'auth/dpop-nonce': NO_PROOF,
  'auth/wif-jwt-bearer': NO_PERSON,
  'sep-2640-client-no-prefetch': NO_SKILLS,
  'sep-2640-client-verify-digest': NO_SKILLS,
  'sep-2640-client-verify-size': NO_SKILLS,
  'sep-2640-client-verify-frontmatter': NO_SKILLS,
};

describe.skipIf(NO_REGISTRY)('the MCP client of the bridge, in the conformance suite', () => {
  let packages: ForeignPackages;

  beforeAll(async () => {
    packages = await installPackages([`@modelcontextprotocol/conformance@${VERSION}`]);
  });
  afterAll(async () => {
    await packages[Symbol.asyncDispose]();
  });

  const run = async (...args: string[]) =>
    await promisify(execFile)(NODE, [packages.program('conformance'), ...args], {
      timeout: 60_000,
    });

  /** The suite says "passed", too, where it has looked at nothing. */
  async function passes(scenario: string, version: readonly string[]): Promise<boolean> {
    const args = ['--command', `${NODE} ${CLIENT}`, '--scenario', scenario, ...version];
    // It writes its checks to stderr.
    const said = await run('client', ...args).catch(({ stdout, stderr }) => ({ stdout, stderr }));
    return /Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/.test(`${said.stdout}${said.stderr}`);
  }

  const listed = async (...version: string[]) => {
    const { stdout } = await run('list', '--client', ...version);
    const [required = ''] = stdout.split('Run and reported');
    const [, ofClient = ''] = required.split('Client scenarios');
    return [...ofClient.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name);
  };

  it('has a row here for each scenario', async () => {
    const known = [...Object.values(REQUIRED), OTHERS].flatMap((some) => Object.keys(some));
    expect([...new Set(known)].sort()).toEqual((await listed()).sort());
    for (const [version, scenarios] of Object.entries(REQUIRED)) {
      const required = await listed('--requirements', version);
      expect(Object.keys(scenarios).sort()).toEqual(required.sort());
    }
  });

  const stated = (of: string) =>
    row({ suite: `MCP conformance, client, ${of}`, version: VERSION, notRun: NO_REGISTRY });

  for (const [version, scenarios] of Object.entries(REQUIRED)) {
    describe(`what ${version} requires`, stated(version), () => {
      for (const [scenario, reason] of Object.entries(scenarios)) {
        it(scenario, leftBecause(reason), async () => {
          expect(await passes(scenario, ['--spec-version', version])).toBe(reason === null);
        });
      }
    });
  }

  describe('the other scenarios', stated('other scenarios'), () => {
    for (const [scenario, reason] of Object.entries(OTHERS)) {
      it(scenario, leftBecause(reason), async () => {
        expect(await passes(scenario, [])).toBe(reason === null);
      });
    }
  });
});

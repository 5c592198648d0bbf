import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, it, vi } from 'vitest';
import { type Client, createClient } from '../../../../client/index.ts';
import manifest from '../../../../package.json' with { type: 'json' };
import { ErrorCode } from '../../../../shared/errors.ts';
import { StreamEvent } from '../../../../shared/wire/events.ts';
import { describeApi } from '../../../../worker/api/openapi/document.ts';
import { ENDPOINTS } from '../../../../worker/api/openapi/endpoints.ts';
import { freshModules } from '../../../fresh-modules.ts';

/** The linter needs Node, where this module of workerd's is not; no handler is called here. */
vi.mock('cloudflare:workers', () => ({ waitUntil: undefined }));
freshModules();

/** Where the recommended rules do not fit, and why. */
const KNOWN = [
  // The success of a WebSocket is 101.
  'operation-2xx-response #/paths/~1api~1v1~1bridges~1{id}~1connect/get/responses',
  'operation-2xx-response #/paths/~1api~1v1~1ui~1socket/get/responses',
  // These two read nothing that could be wrong.
  'operation-4xx-response #/paths/~1health/get/responses',
  'operation-4xx-response #/paths/~1openapi.json/get/responses',
];

it('a public linter finds nothing to improve', async () => {
  const problems = await lintFromString({
    source: JSON.stringify(describeApi(ENDPOINTS)),
    absoluteRef: '/openapi.json',
    config: await createConfig({ extends: ['recommended'] }),
  });
  const found = problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`);
  expect(found.sort()).toEqual(KNOWN);
});

it('names the version of the package', () => {
  expect(describeApi(ENDPOINTS).info.version).toBe(manifest.version);
});

it('docs/protocol.md has every path, error code and event', () => {
  const { pathname } = new URL('../../../../docs/protocol.md', import.meta.url);
  const page = readFileSync(pathname, 'utf8').replaceAll(/\s+/g, ' ');
  const paths = ENDPOINTS.filter(({ path }) => !path.startsWith('/v1/')).map(({ method, path }) => {
    const [, ours] = path.split('/api/v1/');
    return ours === undefined ? path : `${method.toUpperCase()} ${ours}`;
  });
  const events = StreamEvent.options.map(({ shape }) => shape.type.value);
  const names = [...paths, ...ErrorCode.options, ...events];
  expect(names.filter((name) => !page.includes(`${name}\``))).toEqual([]);
});

/** Operations that the client's methods name otherwise. */
const CLIENT_NAMES: Readonly<Record<string, keyof Client>> = {
  createResponse: 'chat',
  createPlan: 'chat', // With the mode `plan`.
  cancelResponse: 'cancel',
  changePort: 'openPort',
  stopAgent: 'changeAgent',
  archiveAgent: 'changeAgent',
  unarchiveAgent: 'changeAgent',
};

it('the typed client has a method for every operation of a person', () => {
  const methods = Object.keys(createClient({ url: 'http://api.test', token: '' }));
  const operations = ENDPOINTS.filter(
    ({ access, path, tag }) =>
      // The AI SDK is the client of its own paths.
      ['user', 'stream'].includes(access) && path.startsWith('/api/v1/') && tag !== 'AI SDK',
  );
  const wanted = operations.map(({ id }) => CLIENT_NAMES[id] ?? id);
  expect(wanted.filter((name) => !methods.includes(name))).toEqual([]);
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, it } from 'vitest';
import { describeApi } from '../../worker/api/openapi/document.ts';

/** Where the recommended rules do not fit, and why. */
const KNOWN = [
  // A WebSocket's success is 101.
  'operation-2xx-response #/paths/~1api~1v1~1bridges~1{id}~1connect/get/responses',
  // These two read nothing that could be wrong.
  'operation-4xx-response #/paths/~1health/get/responses',
  'operation-4xx-response #/paths/~1openapi.json/get/responses',
];

it('a public linter finds nothing to improve', async () => {
  const problems = await lintFromString({
    source: JSON.stringify(describeApi()),
    absoluteRef: '/openapi.json',
    config: await createConfig({ extends: ['recommended'] }),
  });
  const found = problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`);
  expect(found.sort()).toEqual(KNOWN);
});

it('names the version of the package', () => {
  const path = join(import.meta.dirname, '..', '..', 'package.json');
  const { version } = JSON.parse(readFileSync(path, 'utf8')) as { version: string };
  expect(describeApi().info.version).toBe(version);
});

import { SELF } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { type Description, operationsOf } from '../../../../bench/fuzz/description.ts';
import { CALLS } from '../../../../doors/cursor/connect/service.ts';
import { describeApi } from '../../../../worker/api/openapi/document.ts';
import { ENDPOINTS } from '../../../../worker/api/openapi/endpoints.ts';
import { app } from '../../../../worker/app.ts';

it('is served to anybody, may be kept for a while, and is read by pages of configured origins', async () => {
  const response = await SELF.fetch('https://drawbridge.test/openapi.json', {
    headers: { origin: 'https://app.test' },
  });
  expect(response.status).toBe(200);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'application/json',
    'cache-control': 'public, max-age=300',
    'access-control-allow-origin': 'https://app.test',
    vary: 'Origin',
  });
  expect(await response.json()).toEqual(JSON.parse(JSON.stringify(describeApi(ENDPOINTS))));
});

/** Calls of Connect are described by a .proto file. */
it('describes exactly the routes of the API', () => {
  const routes = app.routes.filter(({ method, path }) => method !== 'ALL' && !CALLS.has(path));
  const served = routes.map(
    ({ method, path }) => `${method} ${path.replace(/:(\w+)(\{[^}]+\})?/g, '{$1}')}`,
  );
  const described = operationsOf(describeApi(ENDPOINTS) as Description).map(
    ({ method, path }) => `${method} ${path}`,
  );
  expect(described.sort()).toEqual(served.sort());
});

it('each operation has an id of its own', () => {
  const ids = operationsOf(describeApi(ENDPOINTS) as Description).map(
    ({ operationId }) => operationId,
  );
  expect(new Set(ids).size).toBe(ids.length);
});

it('names every parameter in a path', () => {
  for (const { path, parameters = [] } of operationsOf(describeApi(ENDPOINTS) as Description)) {
    const named = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
    expect([path, named]).toEqual([path, [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)]);
  }
});

/** What the context of a message says of the files that the conversation has used. */
import { expect, it } from 'vitest';
import { usedFileDiagnostics } from '../used-files.ts';
import { checkedWorkspace } from './scripted-server.ts';

it('a message has the findings in used files once a server runs, and starts none', async () => {
  const { call, context, path, put, servers, started } = await checkedWorkspace('pull', {
    'a.ts': 'ODD\nBAD\n',
    'b.ts': 'fine\n',
    'c.txt': 'BAD\n',
  });
  const { workspace: readable, signal } = context;
  const read = (...names: string[]) =>
    usedFileDiagnostics(servers, { used: names.map(path), readable, signal }, 10_000);
  expect(await read('a.ts')).toBeUndefined();
  expect(started).toHaveLength(0);
  await call('read_lints', { paths: ['b.ts'] });
  const source = 'ts 7';
  expect(await read('c.txt', 'b.ts', 'a.ts', 'gone.ts')).toEqual({
    items: [
      { path: 'a.ts', line: 2, column: 1, severity: 'error', message: 'BAD is here', source },
      { path: 'a.ts', line: 1, column: 1, severity: 'warning', message: 'ODD is here', source },
    ],
    leftOut: 0,
  });
  await put('a.ts', 'fine\n');
  expect(await read('a.ts')).toEqual({ items: [], leftOut: 0 });
  expect(await read('c.txt')).toBeUndefined();
  await servers.end();
  expect(await read('a.ts')).toBeUndefined();
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { oneHouse } from './one-house.ts';

const FILES: Readonly<Record<string, string>> = {
  '.cursorignore': 'closed/\n',
  '.gitignore': 'built/\n',
  '.env': 'SECRET=1',
  'AGENTS.md': 'Be kind.',
  'built/target.ts': '',
  'closed/target.ts': '',
  'denied/target.ts': '',
  'open/target.ts': '',
};

const at = oneHouse({
  rules: [{ tool: 'read_file', pattern: 'denied/*', decision: 'deny' }],
  prepare: (workspace) => {
    const generated = Array.from(
      { length: 10_000 },
      (_, index) => `src/${index % 50}/f${index}.ts`,
    );
    for (const path of [...generated, ...Object.keys(FILES)]) {
      mkdirSync(dirname(join(workspace, path)), { recursive: true });
      writeFileSync(join(workspace, path), FILES[path] ?? '');
    }
  },
});

const find = async (query: string) => {
  const { client, ready } = at.house;
  return (await client.findFiles(ready.bridgeId ?? '', query)).items;
};

it('finds what the agent could read, the best first', async () => {
  expect(await find('target')).toEqual([{ path: 'open/target.ts', type: 'file' }]);
  expect(await find('.env')).toEqual([]);
  expect(await find('agents')).toEqual([{ path: 'AGENTS.md', type: 'rule' }]);
  expect(await find('47/f47')).toHaveLength(20);
  expect((await find('SRC/47/')).at(0)).toEqual({ path: 'src/47/', type: 'folder' });
  expect(await find('f9999')).toEqual([{ path: 'src/49/f9999.ts', type: 'file' }]);
});

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** Who may import whom: rooms by folder, packages by name, `node:` and `cloudflare:` as such. Imports go downwards. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  shared: ['zod'],
  client: ['shared', 'eventsource-parser', 'zod'],
  machine: ['node:', 'zod'],
  bridge: ['shared', 'machine', 'node:', 'zod', 'ws', 'diff', '@vscode/ripgrep'],
  local: ['shared', 'machine', 'node:', 'zod', 'jose', 'esbuild'],
  cli: [
    'shared',
    'client',
    'bridge',
    'local',
    'machine',
    'node:',
    'commander',
    'diff',
    'jose',
    'zod',
  ],
  bench: [
    'shared',
    'client',
    'bridge',
    'local',
    'worker',
    'node:',
    'zod',
    'jose',
    '@cfworker/json-schema',
  ],

  worker: ['shared', 'worker/*', 'hono'],
  'worker/storage': [],
  'worker/prompt': ['shared'],
  'worker/upstream': ['shared', 'worker', 'openai', 'zod'],
  'worker/reply': ['shared', 'worker/upstream'],
  'worker/people': ['shared', 'worker', 'worker/storage', 'cloudflare:', 'hono', 'jose', 'zod'],
  'worker/export': ['shared'],
  'worker/desk': ['shared', 'worker', 'worker/api', 'worker/conversation', 'worker/upstream'],
  'worker/tunnel': [
    'shared',
    'worker',
    'worker/storage',
    'worker/conversation',
    'cloudflare:',
    'zod',
  ],
  'worker/conversation': [
    'shared',
    'worker',
    'worker/people',
    'worker/storage',
    'worker/prompt',
    'worker/upstream',
    'worker/reply',
    'worker/tunnel',
    'cloudflare:',
    'zod',
  ],
  'worker/follow': ['shared', 'worker', 'worker/conversation', 'cloudflare:'],
  'worker/openai': [
    'shared',
    'worker',
    'worker/people',
    'worker/conversation',
    'worker/follow',
    'worker/prompt',
    'worker/api',
    'worker/desk',
    'worker/upstream',
    'hono',
    'openai',
    'zod',
  ],
  'worker/api': [
    'shared',
    'worker',
    'worker/people',
    'worker/conversation',
    'worker/desk',
    'worker/export',
    'worker/openai',
    'worker/tunnel',
    'worker/follow',
    'worker/upstream',
    'hono',
    'zod',
  ],
};

it('keeps every import within the table of rooms', () => {
  const offences = sourceFiles().flatMap((file) => {
    const room = roomOf(file);
    return importsOf(file)
      .map((target) => [room, target] as const)
      .filter(([from, to]) => from !== to && !isAllowed(from, to))
      .map(([from, to]) => `${file}: ${from} must not import ${to}`);
  });
  expect(offences).toEqual([]);
});

it('has a row for every room that holds code', () => {
  const rooms = new Set(sourceFiles().map(roomOf));
  expect([...rooms].filter((room) => !(room in MAY_IMPORT))).toEqual([]);
});

it('imports zod as a namespace: by its name `z` a bundle gets every language of its messages', () => {
  const byName = /^import (?!(?:type )?\* as z from)[^;]* from 'zod'/m;
  const offences = sourceFiles().filter((file) =>
    byName.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  expect(offences).toEqual([]);
});

function isAllowed(from: string, to: string): boolean {
  const allowed = MAY_IMPORT[from] ?? [];
  return allowed.includes(to) || (to.startsWith('worker/') && allowed.includes('worker/*'));
}

function sourceFiles(): string[] {
  return ['shared', 'worker', 'bridge', 'machine', 'local', 'client', 'cli', 'bench'].flatMap(
    (folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => join(folder, name)),
  );
}

/** Inside the Worker every folder is a room of its own; elsewhere the top folder is. */
function roomOf(file: string): string {
  const [top = '', second = ''] = file.split('/');
  return top === 'worker' && !second.endsWith('.ts') ? `worker/${second}` : top;
}

function importsOf(file: string): string[] {
  const source = readFileSync(join(ROOT, file), 'utf8');
  const specifiers = [
    ...source.matchAll(/^(?:import|export)\b[^;]*?\bfrom '([^']+)'|\bimport\('([^']+)'\)/gm),
  ];
  return specifiers.map((match) => {
    const specifier = match[1] ?? match[2] ?? '';
    if (specifier.startsWith('.'))
      return roomOf(relative(ROOT, join(ROOT, dirname(file), specifier)));
    const scheme = /^(node|cloudflare):/.exec(specifier)?.[0];
    return scheme ?? packageOf(specifier);
  });
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** How rooms of the Worker reach objects, and each other's refusals. */
const EDGE = [
  ...['worker/ports.ts', 'worker/env.ts', 'worker/objects.ts'],
  ...['worker/outcome.ts', 'worker/reach.ts'],
];

/** Who may import whom: rooms by folder, packages by name, `node:` and `cloudflare:` as such. Imports go downwards. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  shared: ['zod'],
  client: ['shared', 'eventsource-parser', 'zod'],
  machine: ['shared', 'node:', 'zod'],
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
    'worker/*',
    'node:',
    'zod',
    'jose',
    '@cfworker/json-schema',
  ],

  'worker/ports.ts': ['shared', 'worker/outcome.ts', 'worker/conversation/store'],
  'worker/env.ts': ['worker/ports.ts', 'worker/upstream'],
  'worker/objects.ts': ['worker/ports.ts', 'worker/env.ts'],
  'worker/outcome.ts': ['shared'],
  'worker/reach.ts': ['shared'],
  'worker/app.ts': [
    ...['shared', 'hono', 'worker/reach.ts', 'worker/people', 'worker/endpoint.ts'],
    ...['worker/api', 'worker/api/openapi', 'worker/openai'],
  ],
  'worker/index.ts': [
    ...['worker/app.ts', 'worker/env.ts'],
    ...['worker/conversation/object.ts', 'worker/people', 'worker/tunnel'],
  ],
  'worker/endpoint.ts': ['shared', 'worker/people', 'hono', 'zod'],
  'worker/load.ts': [],
  'worker/storage': [],
  'worker/prompt': ['shared'],
  'worker/upstream': ['shared', 'worker/load.ts', 'worker/upstream/demo', 'openai', 'zod'],
  'worker/upstream/demo': ['shared', 'worker/upstream', 'openai', 'zod'],
  'worker/reply': ['shared', 'worker/upstream'],
  'worker/export': ['shared'],

  'worker/conversation/store': ['shared', 'worker/storage', 'zod'],
  'worker/conversation/tape': [
    ...['shared', 'worker/load.ts', 'worker/ports.ts', 'worker/upstream', 'zod'],
    'worker/conversation/store',
  ],
  'worker/conversation/memory/window': [
    ...['shared', 'worker/prompt', 'worker/upstream', 'zod'],
    'worker/conversation/store',
  ],
  'worker/conversation/memory': [
    ...['shared', 'worker/prompt', 'worker/upstream', 'zod'],
    ...['worker/conversation/store', 'worker/conversation/tape'],
    'worker/conversation/memory/window',
  ],
  'worker/conversation/calls/edge-tools': ['shared', 'worker/prompt', 'zod'],
  'worker/conversation/calls': [
    ...['shared', ...EDGE, 'worker/storage', 'worker/upstream', 'worker/reply', 'zod'],
    ...['worker/conversation/store', 'worker/conversation/tape', 'worker/conversation/memory'],
    'worker/conversation/calls/edge-tools',
  ],
  'worker/conversation/deadlines.ts': ['worker/storage'],
  'worker/conversation/run': [
    ...['shared', 'worker/ports.ts', 'worker/storage'],
    ...['worker/prompt', 'worker/upstream', 'worker/reply'],
    ...['worker/conversation/store', 'worker/conversation/tape', 'worker/conversation/memory'],
    ...['worker/conversation/calls', 'worker/conversation/deadlines.ts'],
  ],
  'worker/conversation/reading': [
    ...['shared', ...EDGE],
    ...['worker/conversation/store', 'worker/conversation/tape'],
  ],
  'worker/conversation/fork': ['shared', ...EDGE, 'worker/conversation/store'],
  'worker/conversation': [
    ...['shared', ...EDGE, 'worker/storage', 'cloudflare:'],
    ...['worker/conversation/store', 'worker/conversation/tape', 'worker/conversation/memory'],
    ...['worker/conversation/calls', 'worker/conversation/deadlines.ts', 'worker/conversation/run'],
    ...['worker/conversation/reading', 'worker/conversation/fork'],
  ],
  'worker/conversation/object.ts': [
    ...['shared', ...EDGE, 'worker/storage', 'cloudflare:', 'worker/conversation'],
    ...['worker/conversation/store', 'worker/conversation/tape', 'worker/conversation/calls'],
    ...['worker/conversation/reading', 'worker/conversation/fork'],
  ],
  'worker/people': ['shared', ...EDGE, 'worker/storage', 'cloudflare:', 'hono', 'jose', 'zod'],
  'worker/tunnel': [
    ...['shared', ...EDGE, 'worker/storage', 'cloudflare:', 'zod'],
    'worker/conversation/store',
  ],
  'worker/follow': [
    ...['shared', ...EDGE, 'cloudflare:'],
    ...['worker/conversation/tape', 'worker/conversation/reading'],
  ],
  'worker/desk': [
    ...['shared', ...EDGE, 'worker/upstream', 'hono', 'zod'],
    ...['worker/conversation/store', 'worker/conversation/fork'],
  ],
  'worker/openai': [
    ...['shared', ...EDGE, 'worker/prompt', 'worker/upstream', 'hono', 'openai', 'zod'],
    ...['worker/conversation/tape', 'worker/people', 'worker/follow', 'worker/desk'],
    'worker/endpoint.ts',
  ],
  'worker/api': [
    ...['shared', ...EDGE, 'worker/upstream', 'worker/export', 'hono', 'zod'],
    ...['worker/conversation/reading', 'worker/conversation/fork'],
    ...['worker/people', 'worker/tunnel', 'worker/follow', 'worker/desk', 'worker/endpoint.ts'],
  ],
  'worker/api/openapi': [
    ...['shared', 'worker/endpoint.ts', 'worker/api', 'worker/openai', 'worker/people'],
    ...['hono', 'zod'],
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

it('has a row for every room that holds code, and none for another', () => {
  expect(Object.keys(MAY_IMPORT).sort()).toEqual([...new Set(sourceFiles().map(roomOf))].sort());
});

it('imports zod as a namespace: by its name `z` a bundle gets every language of its messages', () => {
  const byName = /^import (?!(?:type )?\* as z from)[^;]* from 'zod'/m;
  const offences = sourceFiles().filter((file) =>
    byName.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  expect(offences).toEqual([]);
});

/** A file at the root of a folder with subfolders stands for itself: others of that folder lie below and above it. */
it('has no circle of files or of rooms in the Worker', () => {
  const files = sourceFiles().filter((file) => file.startsWith('worker/'));
  const folders = new Set(files.map((file) => dirname(dirname(file))));
  const placeOf = (file: string) => (folders.has(dirname(file)) ? file : dirname(file));
  expect(circleIn(graphOf(files, (file) => file))).toEqual([]);
  expect(circleIn(graphOf(files, placeOf))).toEqual([]);
});

/** What each place imports, by the files that lie there. */
function graphOf(
  files: readonly string[],
  placeOf: (file: string) => string,
): Map<string, Set<string>> {
  const graph = new Map(files.map((file) => [placeOf(file), new Set<string>()]));
  for (const file of files) {
    for (const target of specifiersOf(file).filter((specifier) => specifier.startsWith('.'))) {
      const imported = placeOf(join(dirname(file), target));
      if (imported !== placeOf(file) && graph.has(imported)) {
        graph.get(placeOf(file))?.add(imported);
      }
    }
  }
  return graph;
}

/** One circle, where there is any: places that import no place that is left are taken away until none is. */
function circleIn(graph: Map<string, Set<string>>): string[] {
  const left = new Map(graph);
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    for (const [place, targets] of left) {
      if (![...targets].some((target) => left.has(target))) left.delete(place);
    }
  }
  const way: string[] = [];
  let place = left.keys().next().value;
  while (place !== undefined && !way.includes(place)) {
    way.push(place);
    place = [...(left.get(place) ?? [])].find((target) => left.has(target));
  }
  return way.slice(way.indexOf(place ?? ''));
}

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

/** Inside the Worker every folder is a room of its own, and every file with a row; elsewhere the top folder is. */
function roomOf(file: string): string {
  const [top = ''] = file.split('/');
  if (top !== 'worker') return top;
  return file in MAY_IMPORT ? file : dirname(file);
}

function specifiersOf(file: string): string[] {
  const source = readFileSync(join(ROOT, file), 'utf8');
  const imports = /^(?:import|export)\b[^;]*?\bfrom '([^']+)'|\bimport\('([^']+)'\)/gm;
  return [...source.matchAll(imports)].map((match) => match[1] ?? match[2] ?? '');
}

function importsOf(file: string): string[] {
  return specifiersOf(file).map((specifier) => {
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

import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

const ROOT = join(import.meta.dirname, '..');

/** What a workspace of `packages/` and `doors/` says of itself. None has a row in the table below. */
interface Workspace {
  readonly folder: string;
  /** Folders of workspaces, and names of packages. */
  readonly dependencies: readonly string[];
  /** The files that others may import. */
  readonly faces: readonly string[];
}

const WORKSPACES = readWorkspaces();

/** What a workspace may import without naming it: where its code runs decides. */
function isFree(folder: string, room: string): boolean {
  if (/^shared(?:\/|$)/.test(room)) return true;
  if (folder === 'doors')
    return room === 'cloudflare:' || /^worker\/door(?:-reading)?\.ts$/.test(room);
  const isOfWorker = folder === 'packages/model' || folder === 'packages/prompt';
  return !isOfWorker && /^machine(?:\/|$)|^node:$/.test(room);
}

/** How rooms of the Worker reach objects, and each other's refusals. In the table: EDGE. */
const EDGE =
  'worker/ports worker/env.ts worker/objects.ts worker/outcome.ts worker/reach.ts ' +
  'worker/privacy.ts worker/time-limit.ts worker/level-report.ts worker/health';

/**
 * Who may import whom: rooms by folder, a file that lies above or below its folder by its own name, packages by theirs,
 * `node:` and `cloudflare:` as such. Imports go downwards. Outside of `shared`, `shared` stands for its folders too.
 */
const MAY_IMPORT = parseTable(`
  shared: zod
  shared/text: shared @cfworker/json-schema zod
  shared/wire: shared shared/text zod
  shared/shown/types:
  shared/shown: shared shared/text shared/tools shared/wire diff highlight.js
  shared/settings: shared shared/wire zod
  shared/tools: shared shared/text shared/wire zod
  shared/api: shared shared/settings shared/text shared/tools shared/wire zod
  # Other rooms import only the face of the package. A web page's script has no zod in it.
  client: shared eventsource-parser
  client/index.ts: shared client
  client/examples: drawbridge-client hono

  machine: shared zod node:

  bridge/admission/shell: shared
  machine/failure.ts: shared
  machine/secrets: shared node:
  machine/log.ts: shared machine machine/secrets node:
  bridge/grantees: shared machine machine/failure.ts machine/log.ts packages/host zod node:
  machine/lanes.ts: machine
  machine/result-lines.ts: shared
  bridge/compute: shared machine/compute machine/failure.ts machine/result-lines.ts machine/secrets
    packages/code-index packages/edits unpdf
  machine/entry-kind.ts:
  machine/compute: shared machine machine/failure.ts node:
  bridge/tools: shared machine/compute machine/failure.ts machine/result-lines.ts machine/secrets
    packages/code-index packages/edits packages/host packages/workspace bridge/compute zod node:
  bridge/web: shared machine machine/compute machine/failure.ts packages/sandbox bridge/compute zod
    node:
  bridge/admission: shared machine machine/failure.ts machine/lanes.ts machine/log.ts
    machine/secrets packages/host packages/workspace bridge/admission/shell bridge/grantees
    bridge/web zod node:
  bridge/context: shared machine machine/compute machine/failure.ts packages/code-index
    packages/host packages/sandbox packages/workspace bridge/compute bridge/grantees bridge/web
    node:
  bridge/tunnel: shared machine machine/log.ts machine/secrets packages/host bridge/admission
    bridge/context bridge/grantees ws zod node:
  bridge/config.ts: shared machine packages/code-index packages/host bridge/tunnel bridge/web
  bridge/feature.ts: shared packages/host packages/sandbox packages/workspace bridge/admission
    bridge/config.ts bridge/context bridge/grantees bridge/tunnel
  bridge/checkpoints: shared machine machine/compute machine/failure.ts machine/lanes.ts
    machine/log.ts packages/edits packages/host packages/workspace bridge/admission bridge/compute
    bridge/feature.ts zod node:
  bridge/commands: shared machine machine/failure.ts machine/result-lines.ts packages/code-index
    packages/host packages/sandbox packages/workspace bridge/feature.ts node:
  bridge/rules: shared machine machine/compute machine/failure.ts machine/log.ts packages/code-index
    packages/workspace bridge/feature.ts node:
  bridge/completion: shared machine/compute machine/log.ts packages/code-index packages/workspace
    bridge/feature.ts bridge/rules node:
  bridge/definitions: shared machine/failure.ts packages/workspace bridge/feature.ts bridge/rules
    zod
  bridge/hooks: shared machine machine/compute machine/failure.ts machine/log.ts packages/sandbox
    packages/workspace bridge/compute bridge/feature.ts zod node:
  bridge/ports: shared machine/failure.ts machine/lanes.ts machine/log.ts packages/sandbox
    bridge/admission bridge/commands bridge/feature.ts node:
  bridge/skills: shared machine/failure.ts packages/host packages/workspace bridge/feature.ts
    bridge/rules node:
  bridge/web-tools: shared packages/host bridge/feature.ts bridge/web
  bridge/features.ts: bridge/checkpoints bridge/commands bridge/completion bridge/definitions
    bridge/feature.ts bridge/features bridge/hooks bridge/ports bridge/rules bridge/skills
    bridge/web-tools
  bridge/ground.ts: machine machine/log.ts packages/host packages/sandbox packages/workspace
    bridge/admission bridge/config.ts bridge/feature.ts bridge/grantees bridge/tunnel
    @vscode/ripgrep node:
  bridge/room.ts: bridge/admission bridge/feature.ts bridge/tools
  bridge/worktrees: shared machine machine/failure.ts machine/lanes.ts machine/log.ts packages/host
    packages/sandbox packages/workspace bridge/admission bridge/context bridge/feature.ts
    bridge/room.ts zod node:
  bridge/run.ts: machine machine/compute packages/host packages/sandbox bridge/admission
    bridge/config.ts bridge/context bridge/feature.ts bridge/features.ts bridge/ground.ts
    bridge/tunnel bridge/worktrees node:
  bridge/features: machine packages/code-checks packages/code-index packages/editors packages/host
    packages/mcp bridge/context bridge/feature.ts node:
  # Other rooms import only the face of this workspace.

  local/limits.ts: shared
  local/check: shared machine cloudflare: local/limits.ts local/processes local/runtime node: zod
  local/backup: local/check machine local/archive local/limits.ts local/own-root.ts local/state node:
  local/archive: tar-stream shared machine node: zod
  local/own-root.ts: node: zod
  local/processes: shared machine node: local/limits.ts
  local/settings.ts: shared machine
  local/config: shared machine local/settings.ts local/limits.ts jsonc-parser node: zod
  local/state: shared machine jose node: zod local/archive local/limits.ts local/own-root.ts
  local/worker-size.ts: shared node:
  local/bridge: shared machine local/processes local/settings.ts local/state node: zod
    local/limits.ts
  local/runtime: shared machine local/processes local/state esbuild rolldown node: bin
    local/limits.ts zod
  local/server: shared machine local/bridge local/limits.ts local/own-root.ts local/processes
    local/runtime local/settings.ts local/state node: zod

  cli/limits.ts: shared
  cli/terminal: shared machine cli/limits.ts client/index.ts local/config local/own-root.ts
    commander uqr node:
  cli/render: shared cli/limits.ts cli/terminal diff zod
  cli/list: shared machine cli/render cli/terminal commander
  cli/target: shared machine cli/limits.ts cli/terminal client/index.ts local/state commander zod
    node:
  cli/questions: shared machine cli/target cli/terminal client/index.ts node:
  cli/chat: shared machine cli/limits.ts cli/questions cli/render cli/target cli/terminal
    client/index.ts local/config commander node:
  cli/talk: shared machine cli/chat cli/target cli/terminal cli/tui commander
  cli/acp: shared machine packages/mcp cli/chat cli/people cli/questions cli/render cli/server
    cli/target cli/terminal client/index.ts local/own-root.ts local/server @agentclientprotocol/sdk
    commander zod node:
  cli/mcp-serve: shared machine cli/agents cli/chat cli/limits.ts cli/server cli/target cli/terminal
    client/index.ts local/own-root.ts local/server @modelcontextprotocol/sdk commander zod node:
  cli/tui: shared machine cli/chat cli/limits.ts cli/target cli/terminal cli/tui/commands
    cli/tui/dialogs cli/tui/input cli/tui/status cli/tui/transcript client/index.ts
    @earendil-works/pi-tui
  cli/tui/transcript: shared cli/limits.ts cli/render cli/terminal client/index.ts
    @earendil-works/pi-tui zod
  cli/tui/status: shared cli/chat cli/render cli/terminal client/index.ts @earendil-works/pi-tui
    node:
  cli/tui/input: shared machine cli/chat cli/render cli/terminal cli/tui cli/tui/commands
    client/index.ts @earendil-works/pi-tui zod node:
  cli/tui/dialogs: shared machine cli/chat cli/questions cli/terminal cli/tui/transcript
    client/index.ts @earendil-works/pi-tui
  cli/tui/commands: shared machine cli/agents cli/chat cli/render cli/target cli/terminal
    client/index.ts @earendil-works/pi-tui node:
  cli/config: shared machine cli/limits.ts cli/terminal local/config local/state commander node:
  cli/completion: machine cli/terminal commander
  cli/help: cli/terminal commander
  cli/account: shared cli/render cli/target cli/terminal client/index.ts commander
  cli/keys: shared cli/list cli/target cli/terminal commander zod
  cli/people: shared machine cli/limits.ts cli/list cli/target cli/terminal client/index.ts
    local/state commander zod node:
  cli/conversations: shared machine cli/chat cli/render cli/target cli/terminal client/index.ts
    commander node:
  cli/agents: shared machine cli/chat cli/render cli/target cli/terminal client/index.ts commander
    node:
  cli/setup: shared machine packages/editors packages/sandbox packages/workspace bridge/admission
    bridge/grantees bridge/hooks bridge/skills bridge/worktrees cli/limits.ts cli/list cli/target
    cli/terminal client/index.ts local/backup local/check local/state commander node:
  cli/setup/connect: shared machine machine/log.ts bridge/config.ts bridge/run.ts cli/limits.ts
    cli/target cli/terminal local/bridge local/config local/processes local/state commander jose
  cli/setup/ide: shared machine packages/editors bridge/admission cli/limits.ts cli/target
    cli/terminal local/state commander node:
  cli/setup/mcp: shared machine packages/mcp cli/limits.ts cli/list cli/render cli/target
    cli/terminal client/index.ts local/state commander node:
  cli/server: shared machine machine/log.ts bridge/config.ts bridge/run.ts cli/chat cli/config
    cli/limits.ts cli/list cli/render cli/setup/connect cli/setup/mcp cli/talk cli/target
    cli/terminal client/index.ts local/bridge local/config local/limits.ts local/own-root.ts
    local/processes local/server local/settings.ts local/state commander zod node:
  cli/doctor: shared machine packages/sandbox packages/workspace bridge/admission bridge/hooks
    cli/limits.ts cli/target cli/terminal local/config local/own-root.ts local/runtime local/server
    local/settings.ts local/state commander node:
  cli/service: shared machine cli/limits.ts cli/server cli/terminal local/config local/own-root.ts
    local/server local/state bin commander node:
  cli/commands.ts: cli/account cli/acp cli/agents cli/chat cli/completion cli/config
    cli/conversations cli/doctor cli/help cli/keys cli/mcp-serve cli/people cli/server cli/service
    cli/setup cli/setup/connect cli/setup/ide cli/setup/mcp cli/talk cli/terminal local/server
    commander
  cli/main.ts: machine cli/acp cli/commands.ts cli/help cli/server cli/terminal local/own-root.ts
    local/server commander node:
  # Only types of zod's schemas: the page has no zod in it.
  web/css.d.ts:
  web/live.ts: preact
  web/later.tsx: client/index.ts web/words preact
  web/route.ts: preact
  web/words:
  web/parts: shared web/route.ts web/words preact streaming-markdown uqr
  web/parts/storage.ts:
  web/session: client/index.ts shared web/parts/storage.ts web/words idb-keyval preact
  web/store: client/index.ts shared web/later.tsx web/live.ts web/session web/parts/storage.ts
    idb-keyval preact
  web/conversations: client/index.ts shared web/later.tsx web/live.ts web/parts web/route.ts
    web/store web/words preact
  web/inbox: client/index.ts shared web/conversations web/later.tsx web/live.ts web/parts
    web/route.ts web/store web/words preact
  web/composer: client/index.ts shared web/conversations web/live.ts web/parts
    web/parts/storage.ts web/route.ts web/store web/words preact
  web/thread: client/index.ts shared web/composer web/conversations web/inbox web/later.tsx
    web/live.ts web/parts web/route.ts web/store web/words preact
  web/embed: client/index.ts web/composer web/live.ts web/parts web/store web/thread web/words
    preact
  web/settings: client/index.ts shared web/live.ts web/parts web/session web/store web/words
    preact
  web/palette: client/index.ts shared web/conversations web/live.ts web/parts web/route.ts
    web/store web/words preact
  web/app.tsx: client/index.ts web/composer web/conversations web/inbox web/later.tsx
    web/live.ts web/palette web/parts web/route.ts web/session web/settings web/store web/thread
    web/words preact
  web/main.tsx: shared web/app.tsx web/parts web/session web/settings preact

  build: local/runtime bin esbuild typescript cloudflare: node: zod

  bench/edge: worker/env.ts worker/index.ts cloudflare:
  bench/fuzz: @cfworker/json-schema
  bench/terminal: machine bench node:
  bench/cases: client/index.ts local/state bench zod node:
  bench/escapes: machine/failure.ts packages/mcp packages/sandbox packages/workspace bench/fuzz
    node:
  bench/faults: shared bench/fuzz client/index.ts local/bridge local/processes local/state bench zod
    node:
  bench/page: shared bench/faults client/index.ts bench playwright-core zod node:
  bench/recording:
  bench/tools: shared machine packages/code-checks packages/code-index packages/host
    packages/sandbox packages/workspace bridge/checkpoints bridge/completion bridge/tools
    local/runtime @vscode/ripgrep bench node:
  bench: shared machine packages/code-index packages/sandbox packages/workspace bench/cases
    bench/escapes bench/faults bench/fuzz bench/page bench/recording bench/terminal bench/tools
    bridge/tunnel local/bridge local/limits.ts local/runtime local/state bin esbuild jose
    playwright-core zod node:

  worker/ports: shared worker/conversation/store worker/images worker/outcome.ts worker/storage
  worker/env.ts: packages/model packages/prompt worker/deliveries worker/ports worker/storage
  worker/objects.ts: worker/env.ts worker/ports
  worker/origin.ts: worker/env.ts
  worker/outcome.ts: shared
  worker/reach.ts: shared worker/storage
  worker/privacy.ts: shared worker/env.ts worker/objects.ts worker/reach.ts
  worker/page: shared worker/account hono
  worker/door-reading.ts: packages/prompt worker/conversation/tape worker/images
  worker/door.ts: EDGE worker/account worker/agents worker/conversation/reading worker/desk
    worker/endpoint.ts worker/follow worker/origin.ts
  worker/app.ts: shared doors worker/account worker/api worker/api/openapi worker/desk
    worker/endpoint.ts worker/health worker/objects.ts worker/page worker/reach.ts hono
  worker/index.ts: shared worker/account worker/app.ts worker/conversation/object.ts worker/desk
    worker/directory worker/env.ts worker/runs worker/tunnel
  worker/endpoint.ts: shared worker/account hono zod
  worker/level-report.ts:
  worker/time-limit.ts:
  worker/health: shared worker/health/span-names.ts cloudflare: node:
  worker/tail: shared worker/health/span-names.ts
  worker/health/span-names.ts:
  worker/storage: shared
  worker/images: shared
  worker/reply: shared packages/model
  worker/export: shared

  worker/conversation/store: shared worker/storage zod
  worker/conversation/log: shared worker/conversation/store
  worker/conversation/tape: shared packages/model worker/conversation/log worker/conversation/store
    worker/ports zod
  worker/conversation/memory/window: shared packages/model packages/prompt worker/conversation/store
    zod
  worker/conversation/memory: shared packages/model packages/prompt worker/conversation/log
    worker/conversation/memory/window worker/conversation/store worker/conversation/tape
    worker/images worker/time-limit.ts worker
  worker/conversation/calls/edge-tools: shared packages/prompt zod
  worker/conversation/calls: shared packages/model worker/conversation/calls/edge-tools
    worker/conversation/log worker/conversation/memory worker/conversation/run-watch.ts
    worker/conversation/store worker/conversation/tape worker/env.ts worker/objects.ts
    worker/outcome.ts worker/ports worker/reach.ts worker/reply worker/storage zod
  worker/conversation/subagents: shared EDGE packages/model worker/conversation/calls
    worker/conversation/log worker/conversation/reading worker/conversation/run
    worker/conversation/run-watch.ts worker/conversation/store worker/conversation/tape
    worker/storage
  worker/conversation/deadlines.ts: worker/storage
  worker/conversation/run-watch.ts: shared packages/model worker/conversation/store worker/health
  worker/conversation/run: shared packages/model packages/prompt worker/conversation/calls
    worker/conversation/deadlines.ts worker/conversation/log worker/conversation/memory
    worker/conversation/run/steps worker/conversation/store worker/conversation/tape worker/reach.ts
    worker/reply worker/storage worker
  worker/conversation/run/steps: shared packages/model worker/conversation/calls
    worker/conversation/log worker/conversation/run worker/conversation/store
    worker/conversation/tape worker/reply
  worker/conversation/reading: shared worker/conversation/log worker/conversation/store
    worker/conversation/tape worker/env.ts worker/objects.ts worker/ports worker/reach.ts
  worker/conversation/fork: shared worker/conversation/log worker/conversation/store worker/env.ts
    worker/objects.ts worker/outcome.ts worker/people worker/ports worker/reach.ts worker/storage
  worker/conversation: shared EDGE packages/model packages/prompt worker/agents
    worker/conversation/calls worker/conversation/deadlines.ts worker/conversation/log
    worker/conversation/memory worker/conversation/reading worker/conversation/run
    worker/conversation/run-watch.ts worker/conversation/store worker/conversation/subagents
    worker/conversation/tape worker/deliveries worker/images worker/storage worker cloudflare:
  worker/conversation/object.ts: shared EDGE worker/conversation worker/conversation/calls
    worker/conversation/fork worker/conversation/reading worker/conversation/store
    worker/conversation/tape worker/images worker/storage cloudflare:
  worker/left.ts: shared worker/env.ts worker/health worker/objects.ts worker/ports worker/reach.ts
    worker/storage
  worker/runs: worker/env.ts worker/health worker/objects.ts worker/ports worker/reach.ts
    worker/storage cloudflare:
  worker/secret.ts: shared jose
  worker/apps: shared worker/env.ts worker/objects.ts worker/ports worker/reach.ts worker/secret.ts
    jose zod
  worker/people: shared worker/ports worker/secret.ts jose zod
  worker/push: shared worker/deliveries worker/ports @block65/webcrypto-web-push jose
  worker/directory: shared worker/apps worker/env.ts worker/outcome.ts worker/people worker/ports
    worker/push worker/storage cloudflare:
  worker/account: shared EDGE worker/apps worker/conversation/reading worker/conversation/tape
    worker/images worker/people worker/push worker/secret.ts worker/storage hono jose zod
    cloudflare:
  worker/tunnel: shared EDGE worker/origin.ts worker/people worker/storage zod cloudflare:
  worker/follow: shared worker/conversation/reading worker/conversation/tape worker/env.ts
    worker/objects.ts worker/people worker/ports worker/reach.ts cloudflare:
  worker/desk: shared EDGE packages/model packages/prompt worker/account worker/conversation/fork
    worker/conversation/store worker/follow worker/images hono zod cloudflare:
  worker/deliveries: shared worker/storage worker/time-limit.ts
  worker/agents: shared EDGE worker/conversation/calls worker/conversation/deadlines.ts
    worker/conversation/log worker/conversation/reading worker/conversation/store
    worker/conversation/tape worker/deliveries worker/desk
  # Other rooms import only the face of this workspace.
  worker/api: shared EDGE packages/model worker/account worker/agents worker/apps
    worker/conversation/reading worker/desk worker/endpoint.ts worker/export worker/follow
    worker/left.ts worker/origin.ts worker/people worker/push worker/secret.ts worker/storage
    worker/tunnel hono zod
  worker/api/openapi: shared doors worker/account worker/api worker/endpoint.ts hono zod
  worker: packages/model worker/health
`);

it('keeps every import within the table of rooms', () => {
  const offences = sourceFiles()
    .filter((file) => workspaceOf(file) === undefined)
    .flatMap((file) => {
      const room = roomOf(file);
      return importsOf(file)
        .map((target) => [room, target] as const)
        .filter(([from, to]) => from !== to && !isAllowed(from, to))
        .map(([from, to]) => `${file}: ${from} must not import ${to}`);
    });
  expect(offences).toEqual([]);
});

it('has a row for every room that holds code, and none for another', () => {
  const rooms = sourceFiles().filter((file) => workspaceOf(file) === undefined);
  expect(Object.keys(MAY_IMPORT).sort()).toEqual([...new Set(rooms.map(roomOf))].sort());
});

it.each(WORKSPACES)(
  '$folder imports what its package.json names, and all of it',
  ({ folder, dependencies }) => {
    const own = sourceFiles().filter((file) => workspaceOf(file)?.folder === folder);
    const rooms = own.flatMap(importsOf).filter((room) => room !== folder);
    const others = rooms.filter((room) => !isFree(folder, room));
    expect([...new Set(others)].sort()).toEqual([...dependencies].sort());
  },
);

it('imports of a workspace only what its package.json exports', () => {
  // A bench measures what others need not see.
  const users = sourceFiles().filter((file) => !file.startsWith('bench/'));
  const offences = users.flatMap((file) =>
    specifiersOf(file)
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => join(dirname(file), specifier))
      .filter((target) => {
        const workspace = workspaceOf(target);
        if (workspace === undefined || workspace === workspaceOf(file)) return false;
        return !workspace.faces.includes(relative(workspace.folder, target));
      })
      .map((target) => `${file}: ${target} is no face`),
  );
  expect(offences).toEqual([]);
});

it('has each workspace with its README, and in the map of docs/architecture.md', () => {
  const map = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
  const folders = WORKSPACES.map(({ folder }) => folder);
  expect(folders.filter((folder) => !map.includes(`\`${folder}`))).toEqual([]);
  expect(folders.filter((folder) => !existsSync(join(ROOT, folder, 'README.md')))).toEqual([]);
});

it('asks of a package the version that all others have', () => {
  const manifests = ['package.json', ...WORKSPACES.map(({ folder }) => `${folder}/package.json`)];
  const versions = manifests.map((path) => {
    const { name, version, dependencies, devDependencies } = manifestAt(path);
    return { own: { [name]: version }, asked: { ...devDependencies, ...dependencies } };
  });
  const all = new Map<string, Set<string>>();
  for (const { own, asked } of versions)
    for (const [name, version] of Object.entries({ ...asked, ...own }))
      all.set(name, (all.get(name) ?? new Set()).add(version));
  expect([...all].filter(([, { size }]) => size > 1)).toEqual([]);
});

it.each([
  ['bridge/run.ts', /^@modelcontextprotocol\//],
  ['packages/mcp/index.ts', /^@modelcontextprotocol\//],
  ['packages/editors/settings.ts', /^packages\/editors\/(?:ide|companion)\//],
  ['packages/sandbox/quarantined.ts', /^packages\/sandbox\/(?:launch|proof|terminal)\//],
  ['cli/main.ts', /^(?:bridge|worker|packages)\//],
])('%s loads nothing of %s before it is needed', (entry, heavy) => {
  const seen = new Set([entry]);
  const found = new Set<string>();
  // A set may grow while it is gone through: every file is looked at once.
  for (const file of seen) {
    for (const specifier of loadedBy(file)) {
      const target = specifier.startsWith('.') ? join(dirname(file), specifier) : specifier;
      if (heavy.test(target)) found.add(`${file}: ${target}`);
      else if (specifier.startsWith('.')) seen.add(target);
    }
  }
  expect([...found]).toEqual([]);
});

it('imports zod as a namespace: by its name `z` a bundle gets every language of its messages', () => {
  const byName = /^import (?!(?:type )?\* as z from)[^;]* from 'zod'/m;
  const offences = sourceFiles().filter((file) =>
    byName.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  expect(offences).toEqual([]);
});

/** A file at the root of a folder with subfolders stands for itself: others of that folder lie below and above it. */
it('has no circle of files or of rooms', () => {
  const files = sourceFiles();
  const folders = new Set(files.map((file) => dirname(dirname(file))));
  const placeOf = (file: string) => (folders.has(dirname(file)) ? file : dirname(file));
  expect(circleIn(graphOf(files, (file) => file))).toEqual([]);
  expect(circleIn(graphOf(files, placeOf))).toEqual([]);
});

it('declares each type by its name in one file alone, so that an editor finds it', () => {
  const homes = new Map<string, string[]>();
  // An example is a program of its own.
  const others = /^bench\/|^client\/examples\/|\.d\.ts$/;
  for (const file of sourceFiles().filter((each) => !others.test(each))) {
    const source = readFileSync(join(ROOT, file), 'utf8');
    const declared = source.matchAll(/^(?:export )?(?:type|interface|class) (\w+)/gm);
    for (const name of new Set(Array.from(declared, ([, name = '']) => name))) {
      homes.set(name, [...(homes.get(name) ?? []), file]);
    }
  }
  expect([...homes].filter(([, files]) => files.length > 1)).toEqual([]);
});

it('has no test that leaves a replaced module to the next file of its worker', () => {
  const tests = globSync('{test,packages/*/test,doors/test}/**/*.test.ts', { cwd: ROOT });
  const offences = tests.filter((file) => {
    const source = readFileSync(join(ROOT, file), 'utf8');
    return /\bvi\.(?:do)?mock\(/i.test(source) && !/^freshModules\(\);$/m.test(source);
  });
  expect(offences).toEqual([]);
});

it('spreads no object literal where its members can stand', () => {
  const places = sourceFiles().filter((file) =>
    /\.\.\.\{/.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  expect(places).toEqual([]);
});

it.each([
  [
    'bin/own-copy.mjs',
    ['cli/main.ts', 'bridge/compute/worker.ts', 'web/main.tsx', 'worker/index.ts'],
    ['bin'],
  ],
  ['local/runtime/bundle.ts', ['worker/index.ts'], []],
  ['test/cli/bundle.ts', ['cli/main.ts', 'bridge/compute/worker.ts'], ['bin']],
])('counts every folder that a build needs among its sources: %s', (file, entries, others) => {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const listed = /^const SOURCE_FOLDERS = \[([\s\S]*?)\];$/m.exec(text)?.[1] ?? '';
  const needed = new Set(others);
  const seen = new Set(entries);
  // A set may grow while it is gone through: every file is looked at once.
  for (const source of seen) {
    needed.add(source.split('/')[0] ?? '');
    for (const target of specifiersOf(source).filter((specifier) => specifier.startsWith('.'))) {
      seen.add(join(dirname(source), target));
    }
  }
  expect([...listed.matchAll(/'(\w+)'/g)].map(([, name]) => name)).toEqual([...needed].sort());
});

/** What each place imports, by the files that lie there. */
it.each(['AGENTS.md', 'docs/architecture.md'])(
  '%s names only files and folders that are there',
  (page) => {
    const text = readFileSync(join(ROOT, page), 'utf8');
    const folders = new Set(['docs', 'test', ...sourceFiles().map((file) => file.split('/')[0])]);
    const named = [...text.matchAll(/`(([a-z]+)\/[\w./-]*(?:\.[a-z]+|\/))`/g)]
      .filter(([, , folder]) => folders.has(folder))
      .map(([, path = '']) => path);
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  },
);

it('docs/security.md names only tests that are there', () => {
  const text = readFileSync(join(ROOT, 'docs/security.md'), 'utf8');
  const groups = [...text.matchAll(/(?<![\w`])_([a-z][a-z-]*\/[a-z-]+(?:[\w/,\s-]*[a-z])?)_/g)];
  const names = groups.flatMap(([, group = '']) => group.split(/,\s+/));
  expect(names.length).toBeGreaterThan(40);
  const isThere = (name: string) => {
    const [, place = 'test', rest = `/${name}`] =
      /^(packages\/[a-z-]+|doors)(.*)$/.exec(name) ?? [];
    const path = join(ROOT, place === 'test' ? place : join(place, 'test'), rest);
    return ['', '.test.ts', '.deep.ts', '.interop.ts'].some((end) => existsSync(`${path}${end}`));
  };
  expect(names.filter((name) => !isThere(name))).toEqual([]);
});

/** A room stands at the beginning of its line, and lines that go on are indented deeper. */
function parseTable(table: string): Readonly<Record<string, readonly string[]>> {
  const rows = table
    .replaceAll(/ *#.*\n/g, '')
    .replaceAll('EDGE', EDGE)
    .replaceAll(/\n {4}/g, ' ');
  const parsed = Array.from(rows.matchAll(/^ {2}(\S+):(.*)$/gm), ([, room = '', allowed = '']) => {
    return [room, allowed.trim().split(' ')] as const;
  });
  return Object.fromEntries(parsed);
}

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
  const room = to.startsWith('shared/') && !from.startsWith('shared/') ? 'shared' : to;
  return allowed.includes(room);
}

/** A workspace is one room. Elsewhere every folder is a room of its own, and every file with a row. */
function roomOf(file: string): string {
  const workspace = workspaceOf(file)?.folder;
  return workspace ?? (file in MAY_IMPORT ? file : dirname(file));
}

function workspaceOf(file: string): Workspace | undefined {
  return WORKSPACES.find(({ folder }) => file.startsWith(`${folder}/`));
}

function readWorkspaces(): Workspace[] {
  const manifests = globSync(['packages/*/package.json', 'doors/package.json'], {
    cwd: ROOT,
  }).sort();
  const folders = manifests.map((path) => [manifestAt(path).name, dirname(path)] as const);
  const folderOf = new Map<string, string>(folders);
  return manifests.map((path) => {
    const { dependencies = {}, exports } = manifestAt(path);
    return {
      folder: dirname(path),
      dependencies: Object.keys(dependencies).map((name) => folderOf.get(name) ?? name),
      faces: (typeof exports === 'string' ? [exports] : Object.values(exports)).map((face) =>
        face.slice('./'.length),
      ),
    };
  });
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly exports: string | Readonly<Record<string, string>>;
}

function manifestAt(path: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as Manifest;
}

function specifiersOf(file: string): string[] {
  const source = readFileSync(join(ROOT, file), 'utf8');
  const imports = /^(?:import|export)\b[^;]*?\bfrom '([^']+)'|\bimport\('([^']+)'\)/gm;
  return [...source.matchAll(imports)].map((match) => match[1] ?? match[2] ?? '');
}

/** What a file imports for more than its types, as soon as it is loaded. */
function loadedBy(file: string): string[] {
  const source = readFileSync(join(ROOT, file), 'utf8');
  const imports = /^(?:import|export)(?! type\b)\b[^;]*?\bfrom '([^']+)'/gm;
  return Array.from(source.matchAll(imports), ([, specifier = '']) => specifier);
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

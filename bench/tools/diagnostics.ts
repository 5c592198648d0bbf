/**
 * What the check of an edit by TypeScript adds, in real projects, with the server in the sandbox, as the bridge starts it.
 * The bare side is a second server without sandbox, which gets the text alone and one question about it.
 */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import type { ProposedText } from '../../packages/code-checks/edit-checks.ts';
import { confinedServers, EditChecks } from '../../packages/code-checks/index.ts';
import { KNOWN_SERVERS } from '../../packages/code-checks/known-servers.ts';
import { LanguageServer } from '../../packages/code-checks/language-server.ts';
import { DIAGNOSTICS_LIMITS } from '../../packages/code-checks/limits.ts';
import { probeConfinement, spawnLaunch } from '../../packages/sandbox/index.ts';
import { Workspace } from '../../packages/workspace/index.ts';
import { alternate } from '../alternate.ts';
import { giveAway, openTemporaryFolder } from '../folder.ts';
import { percentile } from '../statistics.ts';
import { type Part, type ToolFigure, timeOf } from './part.ts';
import { installPackages } from './sources.ts';

const ROOT = join(import.meta.dirname, '../..');
const ROUNDS = { warmUps: 5, rounds: 30 } as const;
const MAX_P95_MS = 150;
const NONE = Promise.resolve([]);

interface Project {
  readonly name: string;
  /** Folders of this repository. */
  readonly folders: readonly string[];
  /** The settings of TypeScript. */
  readonly settings: Readonly<Record<string, unknown>>;
}

const PROJECTS: readonly Project[] = [
  {
    name: 'this bridge',
    folders: ['bridge', 'machine', 'shared'],
    settings: {
      target: 'es2024',
      lib: ['es2024', 'esnext.disposable'],
      types: ['node'],
      module: 'nodenext',
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
    },
  },
  {
    name: 'package openai',
    folders: ['node_modules/openai/src'],
    settings: { target: 'es2022', module: 'node16', strict: true, noEmit: true, types: [] },
  },
];

export const measureDiagnostics: Part = async (_, signal) => {
  const figures: ToolFigure[] = [];
  for (const project of PROJECTS) figures.push(...(await measureIn(project, signal)));
  return figures;
};

async function measureIn({ name, ...project }: Project, signal: AbortSignal) {
  using folder = openTemporaryFolder();
  const root = join(folder.path, 'workspace');
  const files = writeProject(root, project);
  giveAway(folder.path);
  const what = `check of an edit by TypeScript, ${name} (${files.length} files)`;
  using confinement = await probeConfinement({
    workspace: root,
    home: homedir(),
    closedFolders: [],
    maskFolder: join(folder.path, 'masks'),
    environment: { PATH: process.env['PATH'] },
  });
  if (confinement.kind === 'none') {
    process.stderr.write(`diagnostics: skipped, without a sandbox: ${confinement.detail}\n`);
    return [timeOf(what, null, MAX_P95_MS)];
  }
  const stateDir = join(folder.path, 'state');
  const servers = confinedServers({ root, confinement, stateDir, isDistrusted: () => false });
  const alone = await startAlone(root, signal);
  try {
    const path = join(root, files[0] ?? '');
    const first = { path, kept: readFileSync(path, 'utf8') };
    const coldMs = await timed(() => servers.look(first, DIAGNOSTICS_LIMITS.maxReadMs, signal));
    const edits = new Edits(root, files);
    const bare = async () => {
      const { path, after } = edits.next();
      return await timed(() => alone.look({ path, kept: after }, NONE, { late: signal, signal }));
    };
    const checks = new EditChecks(servers);
    const workspace = await Workspace.open(root);
    const ours = async () => {
      const edit = edits.next();
      const tookMs = await timed(() => check(checks, { ...edit, workspace }, signal));
      writeFileSync(edit.path, edit.after);
      alone.filesChanged([{ path: edit.path, type: 'changed' }]);
      return tookMs;
    };
    const times = await alternate({ bare, ours }, ROUNDS, (side) => side());
    const shareOf = (share: number) => ({
      unit: 'ms' as const,
      bare: percentile(times.bare, share),
      ours: percentile(times.ours, share),
    });
    return [
      timeOf(`the first ${what}, with the server's start`, coldMs),
      { what: `${what}: median (bare: the server alone)`, ...shareOf(0.5) },
      { what: `${what}: p95`, ...shareOf(0.95), target: { max: MAX_P95_MS } },
    ];
  } finally {
    await Promise.all([servers.end(), alone.end()]);
  }
}

/** Returns the names of the project's files. */
function writeProject(root: string, { folders, settings }: Omit<Project, 'name'>): string[] {
  for (const folder of folders) {
    cpSync(join(ROOT, folder), join(root, basename(folder)), { recursive: true });
  }
  writeFileSync(join(root, 'tsconfig.json'), JSON.stringify({ compilerOptions: settings }));
  installPackages(root, ['@typescript', '@types/node', 'undici-types', 'zod']);
  const names = folders.flatMap((folder) =>
    readdirSync(join(root, basename(folder)), { encoding: 'utf8', recursive: true })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
      .map((name) => join(basename(folder), name)),
  );
  return names.toSorted();
}

/** The server in the folder, as it starts in the sandbox. */
async function startAlone(root: string, signal: AbortSignal): Promise<LanguageServer> {
  const kind = KNOWN_SERVERS.find(({ name }) => name === 'typescript');
  if (!kind) throw new Error('The bridge knows no server of TypeScript.');
  const env = { PATH: process.env['PATH'] ?? '' };
  const launch = { file: 'sh', cwd: root, env, inputs: [], hasPidNamespace: false };
  const begin = async (command: string) =>
    spawnLaunch({ ...launch, args: ['-c', command] }, 'pipe');
  return await LanguageServer.start({ kind, root, begin }, signal);
}

/** Proposes an edit of another file each time, from all parts of the project. */
class Edits {
  readonly #root: string;
  readonly #names: readonly string[];
  #count = 0;

  constructor(root: string, names: readonly string[]) {
    this.#root = root;
    this.#names = names;
  }

  next() {
    const number = this.#count++;
    // A prime: neighbours in the list import each other.
    const name = this.#names[(number * 37) % this.#names.length] ?? '';
    const path = join(this.#root, name);
    const before = readFileSync(path, 'utf8');
    const added = `/** Longer than the limit. */\nexport function isLong${number}(text: string): boolean {\n  return text.length > ${number};\n}\n`;
    return { conversationId: 'conv', path, name, before, after: `${before}\n${added}` };
  }
}

async function check(checks: EditChecks, edit: ProposedText, signal: AbortSignal): Promise<void> {
  const { metadata } = await checks.check(edit, signal);
  if (metadata.not_checked) throw new Error(`An edit was not checked: ${metadata.not_checked}`);
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await run();
  return performance.now() - startedMs;
}

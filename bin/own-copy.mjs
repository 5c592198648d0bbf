// Chooses the files that the program runs from. A clone, and a package among the packages of a project, can lie in a
// workspace, where the agent writes. They run from a copy in a private folder of the user, together with the programs
// that they start. This file is plain JavaScript, because the launcher needs it before any types are stripped.
import {
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import module from 'node:module';
import { homedir, userInfo } from 'node:os';
import { basename, dirname, isAbsolute, join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { filesBelow, keyOf, markUse, openBuild } from './kept-build.mjs';

/** A file in each copy, with the path of the folder that it is a copy of (local/own-root.ts reads it). */
const ORIGIN = 'copy-of';
const MAIN = join('dist', 'cli', 'main.js');

/**
 * The URL of the program's main module. Where no copy can be made, for example without a home folder or from sources
 * that do not compile, the program runs in its own place: Node then reports the error in the sources, and a bridge
 * whose workspace contains that place refuses to start (bridge/ground.ts).
 */
export async function programUrl(root) {
  return pathToFileURL(await findProgram(root)).href;
}

async function findProgram(root) {
  const isClone = existsSync(join(root, 'cli', 'main.ts'));
  const place = isClone ? root : projectOf(root);
  const isCopy = existsSync(join(root, ORIGIN));
  if (!isCopy && !place) return join(root, MAIN);
  try {
    const copy = isCopy
      ? { dir: root, close: markUse(root) }
      : await openCopy(root, place, isClone);
    const { dir, close } = copy;
    // Until it ends, this process may still load a part of it.
    process.once('exit', close);
    // Keeps V8's compiled code too. The Node 20 that lacks this runs no clone.
    module.enableCompileCache?.(join(dir, 'compiled'));
    return join(dir, MAIN);
  } catch {
    return join(root, isClone ? join('cli', 'main.ts') : MAIN);
  }
}

/** The outermost project that has the package among its own. Undefined for a package that is installed globally. */
function projectOf(root) {
  let project;
  for (let dir = root; dirname(dir) !== dir; dir = dirname(dir)) {
    const above = dirname(dir);
    if (basename(dir) === 'node_modules' && existsSync(join(above, 'package.json')))
      project = above;
  }
  return project;
}

/** Links are followed: a copy of a link would lead back. */
const TREE = { recursive: true, dereference: true };

async function openCopy(root, place, isClone) {
  const folder = programsFolder();
  const cache = newFolder(join(folder, 'program'));
  const packages = await openPackages(newFolder(join(folder, 'packages')), { root, place, cache });
  const files = isClone ? filesOfClone(root) : filesBelow([join(root, 'bin'), join(root, 'dist')]);
  return await openBuild({
    cache,
    key: `${keyOf([join(root, 'package.json'), ...files])}-${basename(packages).slice(0, 8)}`,
    product: MAIN,
    build: async (outdir) => {
      sayPreparing();
      if (isClone) await buildClone(root, outdir);
      else cpSync(join(root, 'dist'), join(outdir, 'dist'), TREE);
      cpSync(join(root, 'bin'), join(outdir, 'bin'), TREE);
      copyFileSync(join(root, 'package.json'), join(outdir, 'package.json'));
      symlinkSync(join(packages, 'node_modules'), join(outdir, 'node_modules'), 'junction');
      writeFileSync(join(outdir, ORIGIN), root);
    },
  });
}

let hasSaid = false;

/** A person would see nothing for some seconds. */
function sayPreparing() {
  if (!hasSaid && process.stderr.isTTY) process.stderr.write(PREPARING);
  hasSaid = true;
}

const PREPARING = 'Preparing the program, which takes some seconds after each change of it.\n';

/** Files that change what is built of a clone. */
const SOURCE_FOLDERS = [
  ...['bin', 'bridge', 'cli', 'client', 'doors'],
  ...['local', 'machine', 'packages', 'shared', 'web', 'worker'],
];
const OTHER_SOURCES = [
  ...['package-lock.json', 'node_modules/.package-lock.json'],
  ...['tsconfig.base.json', 'wrangler.toml'],
];

function filesOfClone(root) {
  const folders = SOURCE_FOLDERS.map((name) => join(root, name));
  const others = OTHER_SOURCES.map((name) => join(root, name));
  return [...filesBelow(folders, /\.(?:m?[jt]sx?|json|css|html|svg|webmanifest)$/), ...others];
}

/** The same files as in the package. */
async function buildClone(root, outdir) {
  const { buildSync } = await import('esbuild');
  const { copyGrammars, describeBundle } = await import('./bundle.mjs');
  buildSync(describeBundle(root, join(outdir, 'dist', 'cli')));
  copyGrammars(root, join(outdir, 'dist', 'cli'));
  const entry = join(root, 'worker', 'index.ts');
  if (!existsSync(entry)) return;
  const { bundleWorker, EXPORTER, placeExporter } = await import('../local/runtime/bundle.ts');
  const { buildPage, PAGE_FOLDER } = await import('../local/runtime/page.ts');
  const folder = join(outdir, 'dist', 'worker');
  await bundleWorker(entry, join(folder, 'worker.js'));
  await placeExporter(entry, join(folder, EXPORTER));
  await buildPage(root, join(folder, PAGE_FOLDER));
  copyFileSync(join(root, 'wrangler.toml'), join(outdir, 'dist', 'worker', 'wrangler.toml'));
}

/** Packages that bring a program, each in another package for the machine's system. */
const PACKAGES = ['@vscode/ripgrep', 'workerd'];

/** A folder whose `node_modules` has these packages, and this Node where it lies in the same place as they do. */
async function openPackages(cache, { root, place, cache: programs }) {
  const node = realpathSync(process.execPath);
  const hasNode = node.startsWith(join(realpathSync(place), sep));
  const parts = [
    ...PACKAGES.flatMap((name) => partsOf(root, name)),
    ...(hasNode ? [[node, join('node', 'bin', basename(node))]] : []),
  ];
  const { dir, close } = await openBuild({
    cache,
    key: keyOf(filesBelow(parts.map(([from]) => from))),
    product: 'node_modules',
    build: (outdir) => {
      sayPreparing();
      for (const [from, to] of parts) cpSync(from, join(outdir, 'node_modules', to), TREE);
    },
    isUsed: (packages) => {
      const copies = readdirSync(programs).map((name) => join(programs, name));
      return copies.some((copy) => leadsTo(join(copy, 'node_modules'), packages));
    },
  });
  close(); // A copy of the program that uses it keeps it.
  return dir;
}

/** What a package needs at run time: its own modules, and the program in the package for this system. */
function partsOf(root, name) {
  const folder = findPackage(root, name);
  if (!folder) throw new Error(`${name} is not installed`);
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const programs = Object.keys(manifest.optionalDependencies ?? {}).flatMap((other) => {
    const found = findPackage(folder, other);
    return found ? [[found, other, 'bin']] : [];
  });
  return [[folder, name, 'lib'], ...programs].flatMap(([from, to, part]) =>
    ['package.json', part].map((each) => [join(from, each), join(to, each)]),
  );
}

/** As Node finds a package. */
function findPackage(from, name) {
  const folder = join(from, 'node_modules', name);
  if (existsSync(join(folder, 'package.json'))) return realpathSync(folder);
  return dirname(from) === from ? undefined : findPackage(dirname(from), name);
}

function leadsTo(link, packages) {
  try {
    return readlinkSync(link).startsWith(packages);
  } catch {
    return false; // Another process is making or removing the copy.
  }
}

/** @throws where there is no folder that only this user may write to. */
function programsFolder() {
  const { DRAWBRIDGE_PROGRAMS: chosen, XDG_STATE_HOME: state } = process.env;
  const isChosen = chosen && isAbsolute(chosen);
  const home = state && isAbsolute(state) ? state : join(findHome(), '.local', 'state');
  const folder = newFolder(isChosen ? chosen : join(home, 'drawbridge', 'programs'));
  const { uid, mode } = lstatSync(folder);
  if (uid !== (process.getuid?.() ?? uid) || (mode & OTHERS_WRITE) !== 0) {
    throw new Error(`${folder} is not this user's alone`);
  }
  return folder;
}

const OTHERS_WRITE = 0o022;

function findHome() {
  const { HOME } = process.env;
  const home = HOME && isAbsolute(HOME) ? homedir() : userInfo().homedir;
  if (existsSync(home)) return home;
  throw new Error('there is no home folder');
}

/** Makes a private folder and its parents one by one: Node's `recursive` never returns for `/proc/nowhere`. */
function newFolder(path) {
  if (existsSync(path)) return path;
  const above = newFolder(dirname(path));
  // Files of root in the folder of the person who has called sudo would keep that person out.
  const isSudo = process.getuid?.() === 0 && process.env.SUDO_UID && statSync(above).uid !== 0;
  if (isSudo) throw new Error(`${above} is another user's`);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (error.code !== 'EEXIST') throw error; // Another process was quicker.
  }
  return path;
}

/** Builds the web page from its sources: a folder that a server or a deployment serves as it is. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { BuildOptions, Metafile, Plugin } from 'esbuild';
import * as limits from '../../shared/limits.ts';
import { HASHED_FOLDER, HASHED_HEADERS, PAGE_HEADERS } from '../../shared/page.ts';
import type { Built } from './bundle.ts';

/** The folder of the page beside the module of the Worker, in a package and in a deployment. */
export const PAGE_FOLDER = 'page';

/**
 * Puts the page that belongs to a Worker into `outdir`, in place of an older one. `workerEntry` is `worker/index.ts` in
 * a clone, or a module that is built already (`.js`). One without a page beside it has none. Rejects with esbuild's errors.
 */
export async function placePage(workerEntry: string, outdir: string): Promise<void> {
  rmSync(outdir, { recursive: true, force: true });
  const folder = dirname(workerEntry);
  const [built, sources] = [join(folder, PAGE_FOLDER), join(dirname(folder), 'web')];
  mkdirSync(outdir, { recursive: true });
  if (!workerEntry.endsWith('.js') && existsSync(sources)) await buildPage(dirname(folder), outdir);
  else if (existsSync(built)) cpSync(built, outdir, { recursive: true });
}

/** How esbuild bundles what a browser runs. */
export const FOR_BROWSERS = {
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
} as const satisfies BuildOptions;

/** Puts the page of the clone at `root` into `outdir`. Rejects with esbuild's errors. */
export async function buildPage(root: string, outdir: string): Promise<Built> {
  // Imported only here: commands that build nothing start without esbuild.
  const { build } = await import('esbuild');
  const web = join(root, 'web');
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { main: join(web, 'main.tsx') },
    outdir: join(outdir, HASHED_FOLDER),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    ...FOR_BROWSERS,
    plugins: [LIMITS_AS_NUMBERS, startInOneFile(join(web, 'app.tsx'))],
    splitting: true,
    metafile: true,
    logLevel: 'silent',
  });
  mkdirSync(outdir, { recursive: true });
  cpSync(join(web, 'public'), outdir, { recursive: true });
  const template = readFileSync(join(web, 'index.html'), 'utf8');
  writeFileSync(join(outdir, 'index.html'), indexOf(template, metafile));
  writeFileSync(join(outdir, '_headers'), HEADERS_FILE);
  return { inputs: Object.keys(metafile.inputs) };
}

/** esbuild keeps an unused object that computes a number, such as `4 * MIB`: here each limit is a number already. */
const LIMITS_AS_NUMBERS: Plugin = {
  name: 'limits-as-numbers',
  setup({ onLoad }) {
    const contents = Object.entries(limits)
      .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
      .join('\n');
    onLoad({ filter: /[/\\]shared[/\\]limits\.ts$/ }, () => ({ contents }));
  },
};

/**
 * Puts the start of the page into one file, which compresses better than several: esbuild makes a file for each set of
 * parts that share modules, so each part that is loaded later imports all of `app`. The words do not: `app` waits for
 * them.
 */
function startInOneFile(app: string): Plugin {
  return {
    name: 'start-in-one-file',
    setup({ onResolve, onLoad, resolve }) {
      onResolve({ filter: /^\./ }, async ({ kind, path, resolveDir, importer }) => {
        if (kind !== 'dynamic-import' || WORDS.test(importer)) return;
        const part = await resolve(path, { kind: 'import-statement', resolveDir });
        return { ...part, namespace: LATER };
      });
      onLoad({ filter: /./, namespace: LATER }, ({ path }) => {
        const [start, part] = [app, path].map((file) => JSON.stringify(file));
        return { contents: `import ${start};\nexport * from ${part};`, resolveDir: dirname(path) };
      });
    },
  };
}

const WORDS = /[/\\]words\.ts$/;
const LATER = 'later';

/** The page with the hashed names of its script, its styles, and the modules that the script begins with. */
function indexOf(template: string, { outputs }: Metafile): string {
  const hashed = (path: string) => `${HASHED_FOLDER}/${basename(path)}`;
  const [script, { imports = [], cssBundle = '' } = {}] =
    Object.entries(outputs).find(([, { entryPoint }]) => entryPoint?.endsWith('main.tsx')) ?? [];
  const first = imports.filter(({ kind }) => kind === 'import-statement');
  const preloads = first.map(({ path }) => `<link rel="modulepreload" href="${hashed(path)}">\n`);
  return template
    .replace('main.css', hashed(cssBundle))
    .replace('main.tsx', hashed(script ?? ''))
    .replace('<script', `${preloads.join('')}<script`);
}

/** As Cloudflare reads it: https://developers.cloudflare.com/workers/static-assets/headers/ */
const HEADERS_FILE = [
  '/*',
  ...linesOf(PAGE_HEADERS),
  `/${HASHED_FOLDER}/*`,
  ...linesOf(HASHED_HEADERS),
  '',
].join('\n');

function linesOf(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`);
}

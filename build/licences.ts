/** Collects the licences of the packages that a bundle contains. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

const Manifest = z.object({ name: z.string(), version: z.string(), license: z.string() });

/**
 * The licence texts of all packages that the bundled files (paths from `root`) come from. `build/licences/` has those
 * that a package lacks: its own, or that of code which it contains.
 * @throws if there is neither: the text must be found before the package can be shipped.
 */
export function licencesOf(root: string, inputs: readonly string[]): string {
  const folders = new Set(inputs.flatMap((input) => packageFolderOf(input) ?? []));
  const texts = [...folders].sort().map((folder) => licenceOf(join(root, folder)));
  return `Drawbridge's bundles contain these packages.\n\n${[...new Set(texts)].join('\n')}`;
}

/** The package's folder is the last one after `node_modules/` on the way to the file. */
function packageFolderOf(input: string): string | undefined {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0];
}

function licenceOf(folder: string): string {
  const manifest = Manifest.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
  const { name, version, license } = manifest;
  const texts = licenceFilesOf(folder, name).map((file) => readFileSync(file, 'utf8').trim());
  if (texts.length === 0) throw new Error(`${name} ${version} (${license}) has no licence file`);
  return `${'='.repeat(80)}\n${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`;
}

function licenceFilesOf(folder: string, name: string): string[] {
  const own = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file));
  const kept = join(import.meta.dirname, 'licences', `${name.replace('/', '+')}.txt`);
  return [...own.sort().map((file) => join(folder, file)), ...(existsSync(kept) ? [kept] : [])];
}

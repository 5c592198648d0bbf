/** Makes folders of TypeScript in which a parser, an index and a type checker have real work. */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const FILES_PER_PACKAGE = 300;
const FUNCTIONS = 8;
const VERBS =
  'load store parse render merge split check count find sort group filter open close send receive plan apply undo watch'.split(
    ' ',
  );
/** The words of our own documents: some are in many files, most in few, as in code. */
const NOUNS = wordsBelow(join(ROOT, 'docs'));
const SETTINGS =
  '{"compilerOptions": {"strict": true, "noEmit": true, "target": "esnext", "module": "esnext", "moduleResolution": "bundler"}}';

/** Writes the files from number `from` on until the folder has `count`, and the settings of their packages. */
export function writeSources(root: string, count: number, from = 0): void {
  for (let index = from; index < count; index++) {
    const path = join(root, sourceName(index));
    if (index % FILES_PER_PACKAGE === 0) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(join(dirname(path), '../tsconfig.json'), SETTINGS);
    }
    writeFileSync(path, sourceText(index));
  }
}

/** Relative to the folder. */
export function sourceName(index: number): string {
  return `packages/p${Math.floor(index / FILES_PER_PACKAGE)}/src/${namesOf(index).stem}.ts`;
}

function sourceText(index: number): string {
  const { verb, noun, owner, type, main } = namesOf(index);
  const imported = [1, 7, 40].filter((back) => index % FILES_PER_PACKAGE >= back);
  const others = imported.map((back) => namesOf(index - back));
  const imports = others.map((other) => {
    return `import { ${other.main}, type ${other.type} } from './${other.stem}';\n`;
  });
  const sums = others.map((other) => {
    return `  const all${other.type}: ${other.type}[] = [];\n  for (const one of all${other.type}) total += ${other.main}(one);\n`;
  });
  const functions = Array.from({ length: FUNCTIONS }, (_, at) => functionText(index, at));
  return `${imports.join('')}
/** A ${noun} of the ${owner}. */
export interface ${type} {
  readonly name: string;
  readonly ${owner}Count: number;
}

/** Has to ${verb} the ${noun} before the ${owner} ends. */
export function ${main}(item: ${type}): number {
  let total = item.${owner}Count;
${sums.join('')}  return total;
}
${functions.join('')}
/** All that belong to one ${owner}, by their names. */
export class ${type}Book {
  readonly #kept = new Map<string, ${type}>();

  add(item: ${type}): void {
    this.#kept.set(item.name, item);
  }
}
`;
}

function functionText(index: number, at: number): string {
  const { noun, owner: field, type } = namesOf(index);
  const [verb, owner] = [wordOf(VERBS, index, at + 3), wordOf(NOUNS, index, at + 3)];
  return `
/** Can ${verb} each ${noun} of a ${owner} that has more of the ${field} than the limit. */
export function ${verb}${capital(owner)}${at}(${noun}s: readonly ${type}[], limit = ${at}): ${type}[] {
  const kept = ${noun}s.filter((item) => item.${field}Count > limit);
  if (kept.length === 0) throw new Error('The ${owner} has no ${noun} to ${verb}.');
  return kept.toSorted((a, b) => a.${field}Count - b.${field}Count);
}
`;
}

/** A question that this file answers. */
export function questionOf(index: number): string {
  const [verb, owner] = [wordOf(VERBS, index, 3), wordOf(NOUNS, index, 3)];
  return `Where do we ${verb} each ${namesOf(index).noun} of a ${owner}?`;
}

function namesOf(index: number) {
  const [verb, noun, owner] = [
    wordOf(VERBS, index, 0),
    wordOf(NOUNS, index, 0),
    wordOf(NOUNS, index, 1),
  ];
  const type = `${capital(noun)}${index}`;
  return { verb, noun, owner, type, main: `${verb}${type}`, stem: `${verb}-${noun}-${index}` };
}

/** The same word each time. The first words come more often than the last ones. */
function wordOf(words: readonly string[], index: number, salt: number): string {
  let mixed = Math.imul(index * 31 + salt, 2_654_435_761);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 2_246_822_519);
  const share = ((mixed ^ (mixed >>> 13)) >>> 0) / 2 ** 32;
  return words[Math.floor(share ** 2 * words.length)] ?? '';
}

function wordsBelow(folder: string): readonly string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.md'));
  const texts = names.map((name) => readFileSync(join(folder, name), 'utf8'));
  return [...new Set(texts.join('\n').match(/\b[a-z]{4,12}\b/g))];
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** Copies packages of this repository. `@typescript` has a language server without Node. */
export function installPackages(root: string, names: readonly string[] = ['@typescript']): void {
  for (const name of names) {
    const module = join('node_modules', name);
    cpSync(join(ROOT, module), join(root, module), { recursive: true });
  }
  writeFileSync(join(root, '.gitignore'), 'node_modules/\n');
}

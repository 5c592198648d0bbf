/** Declares the types of `drawbridge-client`, spelled out: the package has neither schemas nor zod. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { API, NodeBuilderFlags, type Project } from 'typescript/unstable/sync';

/** The element needs a browser's types. It declares the client too, which the client's own declarations then replace. */
const EMBED = join('build', 'embed.tsconfig.json');
const CLIENT = join('build', 'client.tsconfig.json');

/** Writes all declarations that the client and the element need to `target`, in the folders of their sources. */
export function declareClient(root: string, target: string): void {
  const emitted = mkdtempSync(join(root, '.build', 'types-'));
  const api = new API({ cwd: root });
  try {
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    for (const config of [EMBED, CLIENT]) {
      const args = [tsc, '-p', join(root, config), '--outDir', emitted];
      execFileSync(process.execPath, args, { stdio: 'inherit' });
    }
    const [project] = api.updateSnapshot({ openProjects: [join(root, CLIENT)] }).getProjects();
    if (!project) throw new Error(`TypeScript did not open ${CLIENT}`);
    // A set may grow while it is gone through: each file is written once.
    const files = new Set([join('client', 'index'), join('web', 'embed', 'element')]);
    for (const file of files) {
      const text = declarationsOf(readFileSync(join(emitted, `${file}.d.ts`), 'utf8'), (type) =>
        spellOut(project, join(root, `${file}.ts`), type),
      );
      for (const [, , path = ''] of text.matchAll(IMPORTED)) files.add(join(dirname(file), path));
      mkdirSync(join(target, dirname(file)), { recursive: true });
      writeFileSync(join(target, `${file}.d.ts`), text.replace(IMPORTED, '$1$2.js$1'));
    }
  } finally {
    api.close();
    rmSync(emitted, { recursive: true, force: true });
  }
}

/** A path after `from`, or in the `import()` of a type that the module does not import by name. */
const IMPORTED = /(?<=from |import\()(['"])(\.[^'"]*)\.ts\1/g;

/** What tsc has declared of a module, with the types of schemas spelled out, and no schema. */
function declarationsOf(emitted: string, spell: (type: string) => string): string {
  if (!ZOD.test(emitted)) return emitted;
  const text = emitted
    .replace(ZOD, '')
    .replace(VALUE, (all, doc: string | undefined, name: string, at: number, whole: string) =>
      whole.startsWith(`export type ${name} =`, at + all.length) ? (doc ?? '') : '',
    )
    .replace(INFERRED, (_, name: string) => `export type ${name} = ${spell(name)};`);
  if (/\bz\./.test(text)) throw new Error(`A declaration needs zod:\n${text}`);
  return text.replace(/^import .*\n/gm, (line) => withoutUnused(line, text));
}

const ZOD = /^import \* as z from 'zod';\n/m;
/** A value with its comment. Its own lines begin with a space or a brace. A schema's comment is also its type's. */
const VALUE =
  /^(\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?(?:export )?declare (?:const|function|class) (\w+).*\n(?:[ }].*\n)*/gm;
const INFERRED = /^export type (\w+) = [^;]*\bz\.[^;]*;/gm;

/** The type as TypeScript resolves it, with all its members. */
function spellOut({ program, checker }: Project, file: string, name: string): string {
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  const symbol = [...(module?.getExports().values() ?? [])].find((one) => one.name === name);
  if (!symbol) throw new Error(`${file} exports no type ${name}`);
  const { NoTruncation, MultilineObjectLiterals, InTypeAlias } = NodeBuilderFlags;
  const flags = NoTruncation | MultilineObjectLiterals | InTypeAlias;
  return checker.typeToString(checker.getDeclaredTypeOfSymbol(symbol), source, flags);
}

/** One line of imports, which tsc also keeps for the schemas. */
function withoutUnused(line: string, text: string): string {
  const [, names = '', path] = /\{ (.*?),? \} from '(.*)'/.exec(line) ?? [];
  const used = names
    .split(', ')
    .map((name) => name.replace(/^type /, ''))
    .filter((name) => [...text.matchAll(new RegExp(`\\b${name}\\b`, 'g'))].length > 1);
  return used.length === 0 ? '' : `import type { ${used.join(', ')} } from '${path}';\n`;
}

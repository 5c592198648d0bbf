/** Loads the parser and the grammars of languages, each when a file needs it. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { Language, Parser, Query } from 'web-tree-sitter';

/** A language that files are parsed in. */
export interface Grammar {
  readonly parser: Parser;
  /** Captures the names that a file defines. */
  readonly names: Query | undefined;
}

/** The grammar by the file's ending. `tsx` also reads TypeScript and JavaScript. */
const GRAMMARS: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ['tsx', '.ts .tsx .mts .cts .js .jsx .mjs .cjs'],
    ['python', '.py .pyi'],
    ['go', '.go'],
    ['rust', '.rs'],
    ['java', '.java'],
    ['ruby', '.rb'],
    ['php', '.php'],
    ['cpp', '.c .h .cc .cpp .cxx .hpp .hh'],
    ['c-sharp', '.cs'],
    ['bash', '.sh .bash'],
  ].flatMap(([name = '', endings = '']) => endings.split(' ').map((ending) => [ending, name])),
);

const loaded = new Map<string, Promise<Grammar | undefined>>();

/** Undefined for a language without one, and where it cannot be loaded: the file is cut by its lines then. */
export async function grammarOf(path: string): Promise<Grammar | undefined> {
  const name = GRAMMARS[extname(path).toLowerCase()];
  if (name === undefined) return undefined;
  const known = loaded.get(name) ?? load(name).catch(() => undefined);
  loaded.set(name, known);
  return await known;
}

let runtime: Promise<void> | undefined;

async function load(name: string): Promise<Grammar> {
  runtime ??= Parser.init({ wasmBinary: readProgram('web-tree-sitter') });
  await runtime;
  const language = await Language.load(readProgram(`tree-sitter-${name}`));
  const parser = new Parser();
  parser.setLanguage(language);
  return { parser, names: namesOf(language) };
}

/** In the bundle they lie beside the program, compressed (bin/bundle.mjs). In a clone they are in their packages. */
function readProgram(name: string): Uint8Array {
  const beside = join(import.meta.dirname, 'grammars', `${name}.wasm.br`);
  if (existsSync(beside)) return brotliDecompressSync(readFileSync(beside));
  const { resolve } = createRequire(import.meta.url);
  return name === 'web-tree-sitter'
    ? readFileSync(resolve('web-tree-sitter/web-tree-sitter.wasm'))
    : readFileSync(join(dirname(resolve('@vscode/tree-sitter-wasm')), `${name}.wasm`));
}

/** A pattern that the language has no nodes for is left out. */
function namesOf(language: Language): Query | undefined {
  const known = PATTERNS.filter((pattern) => isPattern(language, pattern));
  return known.length === 0 ? undefined : new Query(language, known.join('\n'));
}

function isPattern(language: Language, pattern: string): boolean {
  try {
    new Query(language, pattern).delete();
    return true;
  } catch {
    return false;
  }
}

const FUNCTIONS = '[(arrow_function) (function_expression) (class)]';

/** For all languages at once: the names of nodes differ, but mean the same wherever two languages share one. */
const PATTERNS: readonly string[] = [
  ...[
    'function_declaration',
    'generator_function_declaration',
    'class_declaration',
    'abstract_class_declaration',
    'method_definition',
    'interface_declaration',
    'type_alias_declaration',
    'enum_declaration',
    'function_definition',
    'class_definition',
    'method_declaration',
    'type_spec',
    'function_item',
    'struct_item',
    'enum_item',
    'trait_item',
    'mod_item',
    'macro_definition',
    'type_item',
    'function_signature_item',
    'class',
    'module',
    'method',
    'singleton_method',
    'class_specifier',
    'struct_specifier',
    'enum_specifier',
    'namespace_definition',
    'struct_declaration',
    'record_declaration',
    'trait_declaration',
    'constructor_declaration',
    'property_declaration',
    'internal_module',
    'function_signature',
    'abstract_method_signature',
    'local_function_statement',
  ].map((type) => `(${type} name: (_) @name)`),
  `(variable_declarator name: (identifier) @name value: ${FUNCTIONS})`,
  `(assignment_expression left: (_) @name right: ${FUNCTIONS})`,
  `(pair key: (_) @name value: ${FUNCTIONS})`,
  `(public_field_definition name: (_) @name value: ${FUNCTIONS})`,
  '(program (lexical_declaration (variable_declarator name: (identifier) @name)))',
  '(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name))))',
  '(impl_item type: (_) @name)',
  '(function_declarator declarator: (_) @name)',
  '(const_spec name: (_) @name)',
  '(const_item name: (_) @name)',
  '(module (expression_statement (assignment left: (identifier) @name)))',
];

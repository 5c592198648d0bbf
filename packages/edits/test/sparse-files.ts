/** Files of several languages that repeat themselves as real ones do, and lines to change them with. */

import type { Random } from '../../../bench/fuzz/random.ts';

export interface Language {
  readonly name: string;
  readonly make: (random: Random) => string[];
  /** The number of lines that the imports at the top take. */
  readonly imports: (file: readonly string[]) => number;
  readonly import: (random: Random) => string;
  /** Where the functions, rules or sections are. */
  readonly units: (file: readonly string[]) => { from: number; to: number }[];
  readonly unit: (random: Random) => string[];
  /** A new line, without indentation. */
  readonly line: (random: Random) => string;
  /** A line that may stand above a unit. */
  readonly above: (random: Random) => string;
  /** Another version of a line. */
  readonly change: (random: Random, line: string) => string;
  readonly markers: readonly string[];
}

// Few words, so that lines repeat.
const WORDS =
  'user order total items cache result value index name path count price token rate store event group page limit state'.split(
    ' ',
  );
const VERBS =
  'load save parse check update render fetch merge collect send build reset open trim sort'.split(
    ' ',
  );

function word(random: Random): string {
  return random.pick(WORDS);
}

function verb(random: Random): string {
  return random.pick(VERBS);
}

/** A name that is new most of the time. */
function name(random: Random): string {
  const stem = `${verb(random)}_${word(random)}`;
  return random.chance(0.6) ? `${stem}_${random.below(40)}` : stem;
}

/** Changes a number, a name, or the end of a line. */
function changeLine(random: Random, line: string): string {
  const words = [...line.matchAll(/(?<!<\/)\b(?:[A-Za-z_]\w*|\d+)/g)];
  const last = words.at(-1);
  const number = words.findLast(([text]) => /^\d/.test(text));
  if (number !== undefined && random.chance(0.6)) {
    const at = number.index;
    return `${line.slice(0, at)}${Number(number[0]) + 1 + random.below(50)}${line.slice(at + number[0].length)}`;
  }
  if (last === undefined) return `${line}x`;
  const fresh = random.chance(0.5) ? `${last[0]}_${random.below(90)}` : `next_${random.below(900)}`;
  return line.slice(0, last.index) + fresh + line.slice(last.index + last[0].length);
}

function markers(...signs: readonly (readonly [string, string])[]): string[] {
  return signs.flatMap(([open, close]) =>
    [
      '... existing code ...',
      '...existing code...',
      '… existing code …',
      '... rest of the file ...',
      '... (rest of the functions)',
      '... keep existing code ...',
      '... unchanged ...',
    ].map((words) => `${open} ${words}${close}`),
  );
}

interface Shape {
  readonly import: (random: Random) => string;
  readonly header: (name: string, random: Random) => string;
  readonly footer: string | null;
  readonly statement: (random: Random) => string;
  readonly nested: (random: Random) => readonly [open: string, close: string | null];
  readonly returns: (random: Random) => string;
  readonly above: (random: Random) => string;
  readonly indent: string;
  readonly gap: number;
  readonly markers: readonly string[];
  /** A class or module around some of the units. */
  readonly around?: (name: string) => readonly [open: string, close: string | null];
  readonly first?: string;
  readonly last?: (random: Random) => string;
}

function code(name_: string, shape: Shape): Language {
  const unit = (random: Random, called = name(random), depth = ''): string[] => {
    const body = Array.from({ length: 1 + random.below(5) }, () => {
      if (random.chance(0.2)) return nestedLines(random);
      if (random.chance(0.08)) return [''];
      return [shape.statement(random)];
    }).flat();
    while (body[0] === '') body.shift();
    if (random.chance(0.8) || body.length === 0) body.push(shape.returns(random));
    while (body.at(-1) === '') body.pop();
    const lines = [
      shape.header(called, random),
      ...body.map((line) => (line === '' ? '' : shape.indent + line)),
      ...(shape.footer === null ? [] : [shape.footer]),
    ];
    return lines.map((line) => (line === '' ? '' : depth + line));
  };
  const nestedLines = (random: Random): string[] => {
    const [open, close] = shape.nested(random);
    const inner = random.chance(0.6) ? shape.statement(random) : shape.returns(random);
    return [open, shape.indent + inner, ...(close === null ? [] : [close])];
  };
  const gap = Array.from({ length: shape.gap }, () => '');
  return {
    name: name_,
    make: (random) => {
      const file: string[] = shape.first === undefined ? [] : [shape.first];
      const imports = Array.from({ length: 1 + random.below(5) }, () => shape.import(random));
      file.push(...new Set(imports), ...gap);
      let copied: string[] = [];
      const count = 3 + random.below(7);
      for (let index = 0; index < count; index++) {
        if (shape.around !== undefined && random.chance(0.2)) {
          const [open, close] = shape.around(`Class${random.below(50)}`);
          const methods = Array.from({ length: 2 + random.below(2) }, () =>
            unit(random, name(random), shape.indent),
          );
          file.push(open, ...methods.flatMap((method, at) => (at > 0 ? ['', ...method] : method)));
          if (close !== null) file.push(close);
          file.push(...gap);
          continue;
        }
        // Some functions repeat the body of another, under a name of its own or the same.
        const again = random.chance(0.15) && copied.length > 0;
        const lines = again
          ? [
              random.chance(0.8) ? shape.header(name(random), random) : (copied[0] ?? ''),
              ...copied.slice(1),
            ]
          : unit(random);
        copied = lines;
        if (random.chance(0.15)) file.push(shape.above(random));
        file.push(...lines, ...gap);
      }
      if (shape.last !== undefined && random.chance(0.4)) file.push(shape.last(random));
      while (file.at(-1) === '') file.pop();
      return file;
    },
    imports: (file) => file.indexOf(''),
    import: (random) =>
      shape.import(random).replace(/\w+(?=\W*$)/, (last) => `${last}_${random.below(9_000)}`),
    units: (file) => unitsOf(file, shape.footer),
    unit: (random) => unit(random, `${name(random)}_new`),
    line: (random) =>
      random.chance(0.3) ? shape.statement(random) : changeLine(random, shape.statement(random)),
    above: shape.above,
    change: changeLine,
    markers: shape.markers,
  };
}

/** Runs of lines that begin without indentation and end before the next such run. */
function unitsOf(file: readonly string[], footer: string | null): { from: number; to: number }[] {
  const units: { from: number; to: number }[] = [];
  const isTop = (line: string | undefined) => line !== undefined && /^[^\s})\]]/.test(line);
  for (let from = file.indexOf('') + 1; from > 0 && from < file.length; from++) {
    if (!isTop(file[from]) || !/^\s/.test(file[from + 1] ?? '')) continue;
    let to = from + 1;
    while (to < file.length && !isTop(file[to])) to++;
    while (file[to - 1]?.trim() === '') to--;
    if (footer === null || file[to - 1] === footer) units.push({ from, to });
    from = to - 1;
  }
  return units;
}

const SLASHES = markers(['//', ''], ['/*', ' */']);
const HASHES = markers(['#', '']);

const python = code('python', {
  import: (random) =>
    random.chance(0.5) ? `import ${word(random)}` : `from ${word(random)} import ${verb(random)}`,
  header: (called, random) => `def ${called}(${word(random)}):`,
  footer: null,
  statement: (random) =>
    random.pick([
      () => `${word(random)} = ${verb(random)}(${word(random)}, ${random.below(4)})`,
      () => `${verb(random)}(${word(random)})`,
      () => `${word(random)} += ${random.below(3)}`,
      () => `print("${word(random)}", ${word(random)})`,
      () => `# ${verb(random)} the ${word(random)}`,
    ])(),
  nested: (random) => [
    random.pick([`if ${word(random)} is None:`, `for ${word(random)} in ${word(random)}s:`]),
    null,
  ],
  returns: (random) =>
    `return ${random.pick([word(random), String(random.below(5)), `${word(random)} + ${random.below(3)}`])}`,
  above: (random) => random.pick(['@cached', `@${verb(random)}(${random.below(9)})`, '@property']),
  indent: '    ',
  gap: 2,
  markers: HASHES,
  around: (called) => [`class ${called}:`, null],
  last: (random) => `${verb(random)}(${random.below(9)})`,
});

function typescript(indent: string): Language {
  return code(indent === '\t' ? 'javascript with tabs' : 'typescript', {
    import: (random) => `import { ${verb(random)} } from './${word(random)}.ts';`,
    header: (called, random) =>
      random.chance(0.3)
        ? `export const ${called} = (${word(random)}) => {`
        : `export function ${called}(${word(random)}) {`,
    footer: '}',
    statement: (random) =>
      random.pick([
        () => `const ${word(random)} = ${verb(random)}(${word(random)}, ${random.below(4)});`,
        () => `${verb(random)}(${word(random)});`,
        () => `${word(random)} += ${random.below(3)};`,
        () => `await ${verb(random)}(${word(random)});`,
        () => `// ${verb(random)} the ${word(random)}`,
      ])(),
    nested: (random) => [
      random.pick([
        `if (${word(random)} === null) {`,
        `for (const ${word(random)} of ${word(random)}s) {`,
      ]),
      '}',
    ],
    returns: (random) => `return ${random.pick([word(random), String(random.below(5))])};`,
    above: (random) => `// ${verb(random)} every ${word(random)}`,
    indent,
    gap: 1,
    markers: SLASHES,
    last: (random) => `${verb(random)}(${random.below(9)});`,
  });
}

const go = code('go', {
  first: 'package main',
  import: (random) => `import "${word(random)}/${verb(random)}"`,
  header: (called, random) => `func ${called}(${word(random)} int) error {`,
  footer: '}',
  statement: (random) =>
    random.pick([
      () => `${word(random)} := ${verb(random)}(${random.below(4)})`,
      () => `${verb(random)}(${word(random)})`,
      () => `${word(random)} = append(${word(random)}, ${random.below(4)})`,
      () => `${word(random)}++`,
    ])(),
  nested: (random) => [
    random.pick(['if err != nil {', `for _, ${word(random)} := range ${word(random)}s {`]),
    '}',
  ],
  returns: (random) => `return ${random.pick(['nil', 'err', word(random)])}`,
  above: (random) => `// ${verb(random)} does the ${word(random)}.`,
  indent: '\t',
  gap: 1,
  markers: SLASHES,
});

const rust = code('rust', {
  import: (random) => `use crate::${word(random)}::${verb(random)};`,
  header: (called, random) => `pub fn ${called}(${word(random)}: u32) -> Option<u32> {`,
  footer: '}',
  statement: (random) =>
    random.pick([
      () => `let ${word(random)} = ${verb(random)}(${word(random)}, ${random.below(4)})?;`,
      () => `let mut ${word(random)} = Vec::new();`,
      () => `${word(random)}.push(${random.below(5)});`,
      () => `${verb(random)}(&${word(random)});`,
    ])(),
  nested: (random) => [
    random.pick([`if ${word(random)}.is_none() {`, `for ${word(random)} in ${word(random)}s {`]),
    '}',
  ],
  returns: (random) =>
    random.pick(['None', `Some(${word(random)})`, `return Some(${random.below(4)});`]),
  above: (random) => random.pick(['#[inline]', '#[test]', `#[${verb(random)}(${word(random)})]`]),
  indent: '    ',
  gap: 1,
  markers: SLASHES,
  around: (called) => [`impl ${called} {`, '}'],
});

/** Held back: nothing was tuned on it. */
export const JAVA = code('java', {
  first: 'package shop;',
  import: (random) => `import shop.${word(random)}.${verb(random)};`,
  header: (called, random) => `static int ${called}(int ${word(random)}) {`,
  footer: '}',
  statement: (random) =>
    random.pick([
      () => `int ${word(random)} = ${verb(random)}(${word(random)}, ${random.below(4)});`,
      () => `this.${word(random)} = ${word(random)};`,
      () => `System.out.println("${word(random)}");`,
      () => `${word(random)}.${verb(random)}();`,
    ])(),
  nested: (random) => [
    random.pick([
      `if (${word(random)} == null) {`,
      `while (${word(random)} < ${random.below(9)}) {`,
    ]),
    '}',
  ],
  returns: (random) => `return ${random.pick([word(random), String(random.below(5)), 'null'])};`,
  above: (random) =>
    random.pick(['@Override', '@Deprecated', `// ${verb(random)} the ${word(random)}`]),
  indent: '    ',
  gap: 1,
  markers: SLASHES,
  around: (called) => [`class ${called} {`, '}'],
});

/** Languages of rules and sections, whose units hold no statements. */
function sections(
  name_: string,
  parts: {
    readonly import: (random: Random) => string;
    readonly header: (random: Random) => string;
    readonly line: (random: Random) => string;
    readonly footer: string | null;
    readonly above: (random: Random) => string;
    readonly indent: string;
    readonly markers: readonly string[];
  },
): Language {
  const unit = (random: Random) => [
    parts.header(random),
    ...new Set(
      Array.from({ length: 1 + random.below(5) }, () => parts.indent + parts.line(random)),
    ),
    ...(parts.footer === null ? [] : [parts.footer]),
  ];
  return {
    name: name_,
    make: (random) => {
      const imports = Array.from({ length: 1 + random.below(4) }, () => parts.import(random));
      const drawn = Array.from({ length: 3 + random.below(8) }, () => unit(random));
      const headers = drawn.map(([header]) => header);
      // A key stands once in a mapping.
      const units = drawn.filter(
        ([header], at) => name_ !== 'yaml' || headers.indexOf(header) === at,
      );
      return [...new Set(imports), ...units.flatMap((lines) => ['', ...lines])];
    },
    imports: (file) => file.indexOf(''),
    import: (random) =>
      parts
        .import(random)
        .replace(/[a-z]+(?=\.css|_version|, and)/, (text) => `${text}${random.below(900)}`),
    units: (file) =>
      file.flatMap((line, at) => {
        if (line !== '') return [];
        const next = file.indexOf('', at + 1);
        return [{ from: at + 1, to: next < 0 ? file.length : next }];
      }),
    unit: (random) => {
      const lines = unit(random);
      return [
        `${lines[0]?.replace(/[a-z]+(?=-| the |_|">)/, (text) => `${text}${random.below(900)}`)}`,
        ...lines.slice(1),
      ];
    },
    line: (random) => changeLine(random, parts.line(random)),
    above: parts.above,
    change: changeLine,
    markers: parts.markers,
  };
}

const css = sections('css', {
  import: (random) => `@import '${word(random)}.css';`,
  header: (random) => `.${word(random)}-${verb(random)} {`,
  line: (random) =>
    random.pick([
      () => `margin: ${random.below(20)}px;`,
      () => `color: #${100 + random.below(800)};`,
      () => `padding: ${random.below(20)}px ${random.below(20)}px;`,
      () => `--${word(random)}: ${random.below(9)}em;`,
    ])(),
  footer: '}',
  above: (random) => `/* ${verb(random)} the ${word(random)} */`,
  indent: '  ',
  markers: markers(['/*', ' */']),
});

const yaml = sections('yaml', {
  import: (random) => `${word(random)}_version: ${random.below(9)}`,
  header: (random) => `${verb(random)}_${word(random)}:`,
  line: (random) =>
    random.pick([
      () => `${word(random)}: ${random.below(9)}`,
      () => `${verb(random)}: "${word(random)}"`,
      () => `${word(random)}_path: /srv/${word(random)}`,
    ])(),
  footer: null,
  above: (random) => `# ${verb(random)} the ${word(random)}`,
  indent: '  ',
  markers: HASHES,
});

const html = sections('html', {
  import: (random) => `<link rel="stylesheet" href="${word(random)}.css">`,
  header: (random) => `<section class="${word(random)}">`,
  line: (random) =>
    random.pick([
      () => `<p>${verb(random)} the ${word(random)}</p>`,
      () => `<a href="/${word(random)}">${verb(random)}</a>`,
      () => `<input name="${word(random)}" value="${random.below(9)}">`,
    ])(),
  footer: '</section>',
  above: (random) => `<hr class="${verb(random)}">`,
  indent: '  ',
  markers: markers(['<!--', ' -->']),
});

const markdown = sections('markdown', {
  import: (random) => `Intro on the ${word(random)}, and how to ${verb(random)} it.`,
  header: (random) => `## ${verb(random)} the ${word(random)} ${random.below(9)}`,
  line: (random) =>
    random.pick([
      () => `- ${verb(random)} the ${word(random)} (${random.below(9)})`,
      () => `Then you ${verb(random)} it, and the ${word(random)} is done.`,
      () => `1) ${verb(random)} ${word(random)}`,
    ])(),
  footer: null,
  above: (random) => `See [${word(random)}](${verb(random)}.md).`,
  indent: '',
  markers: markers(['<!--', ' -->']),
});

export const LANGUAGES: readonly Language[] = [
  python,
  python,
  typescript('  '),
  typescript('\t'),
  go,
  rust,
  css,
  yaml,
  html,
  markdown,
];

/**
 * Makes files, edits of them, and the sparse text that a model writes for each edit. The edit is made first, so the
 * intended file is known.
 */
import { Random } from '../../../bench/fuzz/random.ts';
import { LANGUAGES, type Language } from './sparse-files.ts';

export interface SparseEdit {
  readonly kind: Kind;
  readonly language: string;
  readonly before: string;
  readonly edit: string;
  readonly intended: string;
}

/** The edit of this seed; null where the file has no room for its kind. */
export function makeSparseEdit(seed: number, languages = LANGUAGES): SparseEdit | null {
  const random = new Random(seed);
  const language = random.pick(languages);
  const kind = random.pick(KINDS);
  const file = language.make(random);
  const drawing = { random, language, file };
  const made = DRAW[kind](drawing);
  if (made === null) return null;
  const { fresh, shown } = made;
  if (fresh.join('\n') === file.join('\n')) return null;
  const eol = random.chance(0.2) ? '\r\n' : '\n';
  const end = random.chance(0.15) ? '' : eol;
  const editEol = random.chance(0.9) ? '\n' : eol;
  const edit = render(drawing, fresh, shown).join(editEol) + (random.chance(0.7) ? editEol : '');
  return {
    kind,
    language: language.name,
    before: file.join(eol) + end,
    edit,
    intended: fresh.join(eol) + end,
  };
}

interface Drawing {
  readonly random: Random;
  readonly language: Language;
  readonly file: readonly string[];
}

/** The file after the edit, and the half-open ranges of it that the model writes out. */
interface Made {
  readonly fresh: readonly string[];
  readonly shown: readonly (readonly [from: number, to: number])[];
}

/** Lines `from` to `to` of the file become `lines`. */
interface Change {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

export const KINDS = [
  'imports and one more',
  'imports, last line',
  'last line only',
  'bare last line',
  'changed function',
  'insert after',
  'insert before',
  'delete with context',
  'change with context',
  'new function',
  'append',
  'two edits',
  'marker at the start only',
  'marker at the end only',
  'decorated',
  'delete a function',
] as const;
export type Kind = (typeof KINDS)[number];

const DRAW: Readonly<Record<Kind, (drawing: Drawing) => Made | null>> = {
  'imports and one more': (drawing) => {
    const { head, change } = oneMoreImport(drawing);
    return made(drawing, [change], [[0, head + change.lines.length]]);
  },
  'imports, last line': (drawing) => {
    const { random } = drawing;
    const { head, change } = oneMoreImport(drawing);
    const last = lastLine(drawing);
    if (last === null || last.from <= head + 2) return null;
    const context = standsOnce(drawing.file[last.from] ?? '') ? 0 : 1;
    const changes = random.chance(0.5) ? [change, last] : random.chance(0.3) ? [change] : [last];
    const added = changes.includes(change) ? change.lines.length : 0;
    return made(drawing, changes, [
      [0, head + added],
      [last.from + added - context, Number.POSITIVE_INFINITY],
    ]);
  },
  'last line only': (drawing) => {
    const last = lastLine(drawing);
    if (last === null) return null;
    const isOnce = standsOnce(drawing.file[last.from] ?? '');
    const context = isOnce && drawing.random.chance(0.5) ? 0 : 1 + drawing.random.below(2);
    return made(drawing, [last], [[Math.max(1, last.from - context), Number.POSITIVE_INFINITY]]);
  },
  'changed function': (drawing) => {
    const { random, file } = drawing;
    const unit = pickUnit(drawing);
    if (unit === null) return null;
    const at = strongIn(drawing, unit.from, unit.to);
    if (at === null) return null;
    const changes = [changeOf(drawing, at)];
    // One line stays as it was; without any, the edit might as well add a function.
    const strong = file.slice(unit.from, unit.to).filter(isStrong).length;
    if (strong < 2) return null;
    if (random.chance(0.4) && strong > 2) {
      const more = strongIn(drawing, at + 1, unit.to);
      if (more !== null)
        changes.push(
          random.chance(0.6)
            ? changeOf(drawing, more)
            : { from: more, to: more, lines: [freshLike(drawing, file[more] ?? '')] },
        );
    }
    const grown = changes.reduce((sum, { from, to, lines }) => sum + lines.length - to + from, 0);
    return made(drawing, changes, [[unit.from, unit.to + grown]]);
  },
  'bare last line': (drawing) => {
    const last = lastLine(drawing);
    return last && made(drawing, [last], [[last.from, Number.POSITIVE_INFINITY]]);
  },
  'insert after': (drawing) => insertion(drawing, 'after'),
  'insert before': (drawing) => insertion(drawing, 'before'),
  'delete with context': (drawing) => {
    const change = deletion(drawing);
    return change && around(drawing, [change], 1 + drawing.random.below(3));
  },
  'change with context': (drawing) => {
    const at = strongIn(drawing, 1, drawing.file.length - 1);
    if (at === null) return null;
    return around(drawing, [changeOf(drawing, at)], 1 + drawing.random.below(3));
  },
  'new function': (drawing) => {
    const { random, language, file } = drawing;
    const units = language.units(file);
    const index = random.below(units.length);
    const [unit, next] = [units[index], units[index + 1]];
    if (unit === undefined || next === undefined) return null;
    const blanks = file.slice(unit.to, next.from);
    if (blanks.some((line) => line.trim() !== '')) return null;
    const lines = [...language.unit(random), ...blanks];
    const change = { from: next.from, to: next.from, lines };
    let before = 2 + random.below(3);
    const careful = random.chance(0.9);
    while (careful && before < 8 && !isTelling(file, unit.to - before, unit.to)) before++;
    return made(
      drawing,
      [change],
      [[unit.to - before, next.from + lines.length + (random.chance(0.7) ? 1 : -blanks.length)]],
    );
  },
  append: (drawing) => {
    const { random, language, file } = drawing;
    const lines = ['', ...language.unit(random)];
    const shown = random.chance(0.5) ? 0 : 1 + random.below(2);
    return made(
      drawing,
      [{ from: file.length, to: file.length, lines }],
      [[file.length - shown, Number.POSITIVE_INFINITY]],
    );
  },
  'two edits': (drawing) => {
    const { random, file } = drawing;
    const middle = Math.floor(file.length / 2);
    const one = strongIn(drawing, 1, middle - 3);
    const two = strongIn(drawing, middle + 3, file.length - 1);
    if (one === null || two === null) return null;
    const changes = [one, two].map((at) =>
      random.chance(0.4)
        ? { from: at, to: at, lines: [freshLike(drawing, file[at] ?? '')] }
        : random.chance(0.3)
          ? (deletion(drawing, at) ?? changeOf(drawing, at))
          : changeOf(drawing, at),
    );
    return around(drawing, changes, 1 + random.below(3));
  },
  'marker at the start only': (drawing) => {
    const { file, random } = drawing;
    const at = strongIn(drawing, Math.floor(file.length / 2), file.length);
    if (at === null) return null;
    return made(
      drawing,
      [changeOf(drawing, at)],
      [[Math.max(1, at - 1 - random.below(3)), Number.POSITIVE_INFINITY]],
    );
  },
  'marker at the end only': (drawing) => {
    const { file, random } = drawing;
    const at = strongIn(drawing, 0, Math.floor(file.length / 2));
    if (at === null) return null;
    let to = at + 2 + random.below(3);
    while (!file.slice(at + 1, to).some(isStrong) && to < file.length) to++;
    return made(drawing, [changeOf(drawing, at)], [[0, to]]);
  },
  decorated: (drawing) => {
    const { random, language } = drawing;
    const unit = pickUnit(drawing);
    if (unit === null) return null;
    const line = language.above(random);
    let to = Math.min(unit.to, unit.from + 1 + random.below(3));
    while (to < unit.to && !isTelling(drawing.file, unit.from, to)) to++;
    return made(
      drawing,
      [{ from: unit.from, to: unit.from, lines: [line] }],
      [[unit.from, to + 1]],
    );
  },
  'delete a function': (drawing) => {
    const { random, language, file } = drawing;
    const units = language.units(file);
    const index = 1 + random.below(Math.max(1, units.length - 2));
    const [unit, next] = [units[index], units[index + 1]];
    if (unit === undefined || next === undefined) return null;
    const change = { from: unit.from, to: next.from, lines: [] };
    return around(drawing, [change], 2 + random.below(2));
  },
};

function made(
  { file }: Drawing,
  changes: readonly Change[],
  shown: readonly (readonly [number, number])[],
): Made {
  const fresh: string[] = [];
  let at = 0;
  for (const { from, to, lines } of changes) {
    fresh.push(...file.slice(at, from), ...lines);
    at = to;
  }
  fresh.push(...file.slice(at));
  return {
    fresh,
    shown: shown.map(([from, to]) => [Math.max(0, from), Math.min(fresh.length, to)] as const),
  };
}

/** Shows each change with lines around it; mostly so many that one of them stands in the file once. */
function around(drawing: Drawing, changes: readonly Change[], context: number): Made {
  const { random, file } = drawing;
  let shift = 0;
  const shown: [number, number][] = [];
  const careful = random.chance(0.9);
  for (const { from, to, lines } of changes) {
    let [above, below] = [context, context];
    while (above < 8 && from > above && !file.slice(from - above, from).some(isStrong)) above++;
    while (below < 8 && !file.slice(to, to + below).some(isStrong) && to + below < file.length)
      below++;
    while (careful && above < 8 && !isTelling(file, from - above, from)) above++;
    while (careful && below < 8 && !isTelling(file, to, to + below)) below++;
    const start = Math.max(0, from + shift - above);
    const end = from + shift + lines.length + below;
    const last = shown.at(-1);
    if (last !== undefined && last[1] >= start) last[1] = end;
    else shown.push([start, end]);
    shift += lines.length - (to - from);
  }
  return made(drawing, changes, shown);
}

function isTelling(file: readonly string[], from: number, to: number): boolean {
  return file
    .slice(Math.max(0, from), to)
    .some((line) => isStrong(line) && file.filter((other) => other === line).length === 1);
}

function isStrong(line: string): boolean {
  return (
    /[\p{L}\p{N}]{2}/u.test(line) && !/^(else|end|pass|break;?|return;?|<\/\w+>)$/.test(line.trim())
  );
}

/** The index of some strong line; null where there is none. */
function strongIn({ random, file }: Drawing, from: number, to: number): number | null {
  for (let tries = 0; tries < 20; tries++) {
    const at = from + random.below(Math.max(1, to - from));
    if (at < to && isStrong(file[at] ?? '')) return at;
  }
  return null;
}

function pickUnit({ random, language, file }: Drawing): { from: number; to: number } | null {
  return random.pick(language.units(file)) ?? null;
}

function oneMoreImport({ random, language, file }: Drawing): { head: number; change: Change } {
  const head = language.imports(file);
  const lines = [language.import(random)];
  if (random.chance(0.2)) lines.push(language.import(random));
  return { head, change: { from: head, to: head, lines } };
}

/** Whether another version of the line beside it makes no sense, so that a model need not show the line above. */
function standsOnce(line: string): boolean {
  return /^\s*(?:return\b|(?:const|let) |\w+ := |[\w-]+:(?: |$))/.test(line);
}

/** A change of the last line that is no bracket. */
function lastLine(drawing: Drawing): Change | null {
  const at = drawing.file.findLastIndex(isStrong);
  return at < 2 ? null : changeOf(drawing, at);
}

function changeOf({ random, language, file }: Drawing, at: number): Change {
  return { from: at, to: at + 1, lines: [language.change(random, file[at] ?? '')] };
}

function deletion(
  drawing: Drawing,
  at = strongIn(drawing, 1, drawing.file.length - 1),
): Change | null {
  const { random, file } = drawing;
  if (at === null || /[{:([]$/.test(file[at] ?? '')) return null;
  const to = Math.min(file.length - 1, at + 1 + (random.chance(0.3) ? random.below(3) : 0));
  // Of two equal lines it cannot be seen that one is gone.
  if (file[at - 1] === file[to - 1] || file[at] === file[to]) return null;
  return { from: at, to, lines: [] };
}

function insertion(drawing: Drawing, side: 'after' | 'before'): Made | null {
  const { random, file } = drawing;
  const at = strongIn(drawing, 1, file.length - 1);
  if (at === null) return null;
  const place = side === 'after' ? at + 1 : at;
  const lines = [freshLike(drawing, side === 'after' ? (file[at] ?? '') : (file[at] ?? ''))];
  // After a line that opens a block, the new line takes the indentation of the block.
  if (side === 'after' && indentOf(file[at + 1] ?? '').length > indentOf(file[at] ?? '').length)
    lines[0] = indentOf(file[at + 1] ?? '') + (lines[0] ?? '').trim();
  if (random.chance(0.3)) lines.push(freshLike(drawing, lines[0] ?? ''));
  const keys = [...file.slice(Math.max(0, place - 5), place + 5), ...lines].flatMap(
    (line) => /^\s*(?:[\w-]+:(?= )|(?:const|let|let mut|int) \w+ =|\w+ :=)/.exec(line) ?? [],
  );
  if (new Set(keys).size < keys.length) return null;
  // A model hardly adds what stands there already.
  if (file.slice(Math.max(0, place - 8), place + 8).some((line) => lines.includes(line)))
    return null;
  if (side === 'after' && /^\s*(return|raise|throw|break|continue)\b/.test(file[at] ?? ''))
    return null;
  const oneSide = random.chance(0.7);
  const change = { from: place, to: place, lines };
  if (!oneSide) return around(drawing, [change], 1 + random.below(2));
  let context = 1 + random.below(2);
  const careful = random.chance(0.9);
  const range = () =>
    side === 'after' ? ([place - context, place] as const) : ([place, place + context] as const);
  while (careful && context < 8 && !isTelling(file, ...range())) context++;
  const [from, to] = range();
  return made(drawing, [change], [[from, to + lines.length]]);
}

function freshLike({ random, language }: Drawing, neighbour: string): string {
  return indentOf(neighbour) + language.line(random);
}

function indentOf(line: string): string {
  return /^\s*/.exec(line)?.[0] ?? '';
}

/** The shown ranges with markers between them, in one of the styles that models have. */
function render({ random, language }: Drawing, fresh: readonly string[], shown: Made['shown']) {
  const style = random.pick(['indented', 'indented', 'neighbour', 'flush'] as const);
  const words = random.pick(language.markers);
  const blanks = random.pick(['none', 'none', 'after', 'before', 'both'] as const);
  const edit: string[] = [];
  let at = 0;
  const mark = (from: number, to: number) => {
    if (from >= to) return;
    const hidden = fresh.slice(from, to).find((line) => line.trim() !== '');
    if (hidden === undefined && to === fresh.length) return;
    const near = edit.at(-1) ?? fresh[to] ?? '';
    const indent = style === 'flush' ? '' : indentOf(style === 'indented' ? (hidden ?? '') : near);
    if (edit.length > 0 && edit.at(-1) !== '' && (blanks === 'before' || blanks === 'both'))
      edit.push('');
    edit.push(indent + words);
    if (to < fresh.length && fresh[to] !== '' && (blanks === 'after' || blanks === 'both'))
      edit.push('');
  };
  for (const [from, to] of shown) {
    mark(at, from);
    edit.push(...fresh.slice(from, to));
    at = to;
  }
  mark(at, fresh.length);
  return edit;
}

/** Reads a Jupyter notebook: its cells, and where in the file's text they are. */
import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import * as z from 'zod';
import { ToolFailure } from '../../../machine/failure.ts';
import { nestsDeeper, parseJson, tooDeep } from '../../../shared/text/json.ts';
import { JSON_LIMITS } from '../../../shared/text/limits.ts';

/** A text as the format has it: whole, or as lines with their line ends. */
export const Lines = z.union([z.string(), z.array(z.string())]);
export type Lines = z.infer<typeof Lines>;

export const CellType = z.enum(['code', 'markdown', 'raw']);
export type CellType = z.infer<typeof CellType>;

const Cell = z.looseObject({
  cell_type: CellType,
  source: Lines,
  id: z.string().optional(),
  execution_count: z.number().nullish(),
  outputs: z.array(z.unknown()).optional(),
});
export type Cell = z.infer<typeof Cell>;

const Format = z.looseObject({ nbformat: z.number(), nbformat_minor: z.number().default(0) });

const Content = z.looseObject({
  cells: z.array(Cell),
  metadata: z
    .looseObject({ language_info: z.looseObject({ name: z.string() }).optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

/** A cell, and where it is in the text. */
export interface PlacedCell {
  readonly cell: Cell;
  readonly node: Node;
}

export interface Notebook {
  readonly text: string;
  readonly root: Node;
  /** The list of cells. */
  readonly list: Node;
  readonly cells: readonly PlacedCell[];
  /** For example `4.5`. */
  readonly version: string;
  readonly hasIds: boolean;
  /** Null where the notebook does not say it. */
  readonly language: string | null;
}

/**
 * The text has no byte order mark. Throws a {@link ToolFailure} (`NOT_A_NOTEBOOK`, `NOTEBOOK_VERSION`). Strict: what
 * other programs would refuse, such as NaN, is refused here, too.
 */
export function readNotebook(name: string, text: string): Notebook {
  const { root, value } = parseStrictly(name, text);
  const format = Format.safeParse(value).data;
  if (format === undefined)
    throw notANotebook(name, 'the number nbformat is missing at its top level');
  const { nbformat, nbformat_minor: minor } = format;
  if (nbformat !== VERSION) throw otherVersion(name, nbformat);
  const content = Content.safeParse(value);
  const list = memberOf(root, 'cells')?.children?.[1];
  if (!content.success || list === undefined) {
    const [issue] = content.error?.issues ?? [];
    const where = issue?.path.join('.') || 'its top level';
    throw notANotebook(name, `at ${where}: ${issue?.message ?? 'the list of cells is missing'}`);
  }
  const { cells, metadata } = content.data;
  const nodes = list.children ?? [];
  return {
    text,
    root,
    list,
    cells: cells.map((cell, index) => ({ cell, node: nodes[index] as Node })),
    version: `${nbformat}.${minor}`,
    hasIds: minor >= FIRST_WITH_IDS || cells.some(({ id }) => id !== undefined),
    language: metadata?.language_info?.name ?? null,
  };
}

const VERSION = 4;
/** Cells have ids from version 4.5 on. */
const FIRST_WITH_IDS = 5;

/** Whether a file is one by its name, which can be in quotes. */
export function isNotebook(name: string): boolean {
  return /\.ipynb"?$/i.test(name);
}

/** The whole source of a cell. */
export function textOfLines(lines: Lines): string {
  return typeof lines === 'string' ? lines : lines.join('');
}

/** The property with this name; of several the last, as JSON's parsers take it. */
export function memberOf(object: Node, name: string): Node | undefined {
  return object.children?.findLast(({ children }) => children?.[0]?.value === name);
}

/** Parsed twice: the strict parser gives no offsets. */
function parseStrictly(name: string, text: string): { root: Node; value: unknown } {
  if (nestsDeeper(text, JSON_LIMITS.maxDepth)) throw notANotebook(name, tooDeep());
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { disallowComments: true });
  const [error] = errors;
  try {
    const value: unknown = parseJson(text);
    if (root !== undefined && error === undefined) return { root, value };
  } catch {
    // The other parser says where the mistake is.
  }
  const line = text.slice(0, error?.offset ?? 0).split('\n').length;
  const what = error === undefined ? 'it' : printParseErrorCode(error.error);
  throw notANotebook(name, `it is not valid JSON (${what} in line ${line})`);
}

function notANotebook(name: string, why: string): ToolFailure {
  return new ToolFailure(
    'NOT_A_NOTEBOOK',
    `${name} cannot be edited as a notebook: ${why}. Repair the JSON with str_replace or write, or ask the person.`,
  );
}

function otherVersion(name: string, version: number): ToolFailure {
  return new ToolFailure(
    'NOTEBOOK_VERSION',
    `${name} has nbformat ${version}, and only ${VERSION} can be edited: convert it with ` +
      `\`jupyter nbconvert --to notebook --nbformat ${VERSION} --inplace\`, or ask the person.`,
  );
}

/** Cuts a file into chunks: by its functions and classes where its language can be parsed, else by its lines. */
import type { Node } from 'web-tree-sitter';
import { type Grammar, grammarOf } from './grammars.ts';
import { INDEX_LIMITS } from './limits.ts';
import { cutIntoChunks } from './search/codebase/chunks.ts';
import { nameDefinedBy } from './search/codebase/definitions.ts';
import { kindOfPath, looksGenerated } from './search/codebase/kinds.ts';

/** Lines of a file that belong together, from `start` up to but not including `end`; both counted from 0. */
export interface Chunk {
  readonly start: number;
  readonly end: number;
  /** The names that it defines, with a space between them. */
  readonly names: string;
}

/** The whole file in order, without gaps. Of a file that a program made, only the beginning. `lines` have no ends. */
export async function chunksOf(
  path: string,
  lines: readonly string[],
  parses: boolean,
): Promise<Chunk[]> {
  if (kindOfPath(path) === 'generated' || looksGenerated(lines)) {
    return chunksByLines(lines.slice(0, LINES_OF_GENERATED)).slice(0, 1);
  }
  const grammar = parses ? await grammarOf(path) : undefined;
  const parsed = grammar && chunksByTree(grammar, lines);
  return (parsed ?? chunksByLines(lines)).slice(0, INDEX_LIMITS.maxChunks);
}

const LINES_OF_GENERATED = 30;

function chunksByLines(lines: readonly string[]): Chunk[] {
  return cutIntoChunks(lines).map(({ start, end }) => ({
    start,
    end,
    names: lines
      .slice(start, end)
      .flatMap((line) => nameDefinedBy(line) ?? [])
      .join(' '),
  }));
}

/** Undefined for a file that takes too long. */
function chunksByTree({ parser, names }: Grammar, lines: readonly string[]): Chunk[] | undefined {
  const until = performance.now() + INDEX_LIMITS.parseMs;
  const tree = parser.parse(lines.join('\n'), null, {
    progressCallback: () => performance.now() > until,
  });
  if (tree === null) {
    parser.reset();
    return undefined;
  }
  try {
    const starts = new Cutting(tree.rootNode).starts;
    if (starts === undefined) return undefined;
    const bounds = [...starts, lines.length];
    const found = names?.captures(tree.rootNode, { matchLimit: INDEX_LIMITS.maxNodes }) ?? [];
    const named = found.map(({ node }) => ({ row: node.startPosition.row, name: node.text }));
    named.sort((a, b) => a.row - b.row);
    let at = 0;
    return starts.map((start, index) => {
      const end = bounds[index + 1] ?? lines.length;
      const own: string[] = [];
      for (let next = named[at]; next && next.row < end; next = named[++at]) own.push(next.name);
      return { start, end, names: own.join(' ') };
    });
  } finally {
    tree.delete();
  }
}

/** Finds the rows at which chunks begin. A comment belongs to what stands below it. */
class Cutting {
  readonly #starts: number[] = [0];
  #visited = 0;
  /** Of the chunk that is being filled. */
  #chars = 0;
  readonly #isDone: boolean;

  constructor(root: Node) {
    this.#isDone = this.#visit(root);
  }

  /** Undefined for a tree with too many nodes. */
  get starts(): readonly number[] | undefined {
    return this.#isDone ? this.#starts : undefined;
  }

  #visit(node: Node): boolean {
    let comment: { readonly row: number; readonly chars: number } | undefined;
    for (const child of node.namedChildren) {
      if (child === null) continue;
      if (++this.#visited > INDEX_LIMITS.maxNodes) return false;
      const chars = child.endIndex - child.startIndex;
      const row = comment?.row ?? child.startPosition.row;
      if (child.type.includes('comment')) {
        comment ??= { row, chars };
        continue;
      }
      const all = chars + (comment?.chars ?? 0);
      comment = undefined;
      if (this.#chars + all > INDEX_LIMITS.maxChunkChars) this.#cut(row);
      if (all > INDEX_LIMITS.maxChunkChars && child.namedChildCount > 0) {
        if (!this.#visit(child)) return false;
      } else this.#chars += all;
    }
    return true;
  }

  #cut(row: number): void {
    this.#chars = 0;
    if (row > (this.#starts.at(-1) ?? 0)) this.#starts.push(row);
  }
}

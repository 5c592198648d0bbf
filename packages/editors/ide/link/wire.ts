/**
 * What a companion sends, beside MCP itself: three kinds of notifications, and the results of its tools. Companions of
 * any age are read, so unknown fields are passed over and `null` counts as absent.
 */
import { fileURLToPath } from 'node:url';
import type { CallToolResult } from '@modelcontextprotocol/client';
import * as z from 'zod';
import { parseIfJson } from '../../../../shared/text/json.ts';
import { LINK_LIMITS } from './limits.ts';

const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined);

const OpenFile = z.object({
  path: z.string().min(1),
  /** Orders the files: the file with the focus has the largest. */
  timestamp: z.number(),
  isActive: optional(z.boolean()),
  selectedText: optional(z.string()),
  /** `line` counts from 1; `character` from 1 or from 0, by the companion's age. */
  cursor: optional(z.object({ line: z.number(), character: z.number() })),
});
export type OpenFile = z.infer<typeof OpenFile>;

const OpenFiles = z
  .array(z.unknown())
  .transform((files) => files.slice(0, LINK_LIMITS.maxFilesRead))
  .pipe(z.array(OpenFile));

const ContextUpdate = z.object({
  workspaceState: optional(
    z.object({ openFiles: optional(OpenFiles), isTrusted: optional(z.boolean()) }),
  ),
});

const DiffAccepted = z.object({ filePath: z.string(), content: z.string() });
const DiffRejected = z.object({ filePath: z.string() });

/** A notification of a companion, parsed. */
export type EditorNews =
  | {
      readonly type: 'context';
      readonly openFiles: readonly OpenFile[] | undefined;
      readonly isTrusted: boolean | undefined;
    }
  /** The person has decided about a diff. Without `content` they have rejected it. */
  | { readonly type: 'diff'; readonly filePath: string; readonly content?: string }
  /** For a log; one line of fixed words and field names. */
  | { readonly type: 'invalid'; readonly problem: string };

/** Undefined for a notification that means nothing here, such as `ping`. */
export function readNotification(method: string, params: unknown): EditorNews | undefined {
  switch (method) {
    case 'ide/contextUpdate':
      return parsed(method, ContextUpdate, params, ({ workspaceState }) => ({
        type: 'context',
        openFiles: workspaceState?.openFiles,
        isTrusted: workspaceState?.isTrusted,
      }));
    case 'ide/diffAccepted':
      return parsed(method, DiffAccepted, params, (diff) => ({ type: 'diff', ...diff }));
    case 'ide/diffRejected':
    case 'ide/diffClosed': // In the place of `diffRejected`, of Qwen Code and of Gemini CLI before 0.22.
      return parsed(method, DiffRejected, params, (diff) => ({ type: 'diff', ...diff }));
    default:
      return undefined;
  }
}

function parsed<Schema extends z.ZodType>(
  method: string,
  schema: Schema,
  params: unknown,
  toNews: (value: z.output<Schema>) => EditorNews,
): EditorNews {
  const result = schema.safeParse(params);
  if (result.success) return toNews(result.data);
  const [issue] = result.error.issues;
  const problem = `${method}: ${issue?.path.join('.')}: ${issue?.message}`;
  return { type: 'invalid', problem };
}

/** The first text of a result. */
export function textOf({ content }: CallToolResult): string | undefined {
  return content.find((block) => block.type === 'text')?.text;
}

/**
 * What the diff showed when `closeDiff` closed it; undefined where no such diff was open. The official companions
 * answer with JSON, a companion that follows the written specification with the text itself.
 */
export function closedContent(result: CallToolResult, serverName: string): string | undefined {
  const text = textOf(result);
  if (result.isError || text === undefined) return undefined;
  const closed = ClosedDiff.safeParse(parseIfJson(text));
  if (closed.success) return closed.data.content;
  return OFFICIAL.has(serverName) ? undefined : text;
}

/** Strict: without more, a closed diff of a JSON file would look like an answer in JSON. */
const ClosedDiff = z.strictObject({ content: optional(z.string()) });

/** How the companions of Gemini CLI and Qwen Code for VS Code name themselves. */
const OFFICIAL: ReadonlySet<string> = new Set([
  'gemini-cli-companion-mcp-server',
  'qwen-code-companion-mcp-server',
]);

/** An error or a warning. */
export interface EditorDiagnostic {
  /** As the editor spells it. */
  readonly path: string;
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  /** The linter and its rule. */
  readonly source: string | undefined;
}

/** `problem` is for a log: something in the answer was left out. */
export interface Diagnosed {
  readonly found: readonly EditorDiagnostic[];
  readonly problem?: string;
}

/**
 * A result of `getDiagnostics`. Each text is JSON: the files with their diagnostics as language servers give them (VS
 * Code), or one diagnostic with its path, which counts from 1 (Neovim). Hints and information are left out.
 */
export function readDiagnostics({ content }: CallToolResult): Diagnosed {
  const items = itemsIn(content.flatMap((block) => (block.type === 'text' ? [block.text] : [])));
  const read = items.map((item) => Item.safeParse(item));
  const found = read.flatMap(({ data }) => data ?? []);
  return read.every(({ success }) => success) ? { found } : { found, problem: MISREAD };
}

const MISREAD = 'getDiagnostics: an answer is too long, or of another form';

/** Single diagnostics, and one item of another form for what holds none. Their number is bounded before they are read. */
function itemsIn(texts: readonly string[]): unknown[] {
  const { maxDiagnosisChars, maxDiagnosisItems } = LINK_LIMITS;
  const chars = texts.reduce((sum, { length }) => sum + length, 0);
  if (chars > maxDiagnosisChars) return [undefined];
  const entries = texts.flatMap((text) => parseIfJson(text)).slice(0, maxDiagnosisItems);
  const items = entries.flatMap((entry) => {
    const { data } = OfFile.safeParse(entry);
    return data ? data.diagnostics.map((said) => ({ uri: data.uri, said })) : [entry];
  });
  return items.slice(0, maxDiagnosisItems);
}

const Severity = z.union([z.string(), z.number()]).transform((severity) => {
  const name = typeof severity === 'number' ? SEVERITIES[severity] : severity.toLowerCase();
  return name === 'error' || name === 'warning' ? name : undefined;
});

/** As language servers count them, and Neovim. */
const SEVERITIES: readonly (string | undefined)[] = [undefined, 'error', 'warning'];

const Said = z.object({
  severity: Severity,
  message: z.string(),
  source: optional(z.string()),
  code: z.union([z.string(), z.number()]).optional().catch(undefined),
});

const Flat = Said.extend({ filePath: z.string(), line: z.number(), character: z.number() });
const Ranged = Said.extend({
  range: z.object({ start: z.object({ line: z.number(), character: z.number() }) }),
});
const OfFile = z.object({ uri: z.string(), diagnostics: z.array(z.unknown()) });

const Item = z.union([
  z
    .object({ uri: z.string(), said: Ranged })
    .transform(({ uri, said: { range, ...said } }) =>
      toDiagnostic(
        pathOf(uri),
        { line: range.start.line + 1, column: range.start.character + 1 },
        said,
      ),
    ),
  Flat.transform(({ filePath, line, character, ...said }) =>
    toDiagnostic(filePath, { line, column: character }, said),
  ),
]);

function toDiagnostic(
  path: string | undefined,
  { line, column }: Pick<EditorDiagnostic, 'line' | 'column'>,
  { severity, message, source, code }: z.infer<typeof Said>,
): EditorDiagnostic[] {
  if (path === undefined || severity === undefined) return [];
  const linter = [source, code].filter((word) => word !== undefined).join(' ');
  const place = { path, line: fromOne(line), column: fromOne(column) };
  return [{ ...place, severity, message, source: linter || undefined }];
}

/** A count from 1. Some companions count characters from 0. */
export function fromOne(count: number): number {
  return Math.min(Math.max(1, Math.floor(count)), Number.MAX_SAFE_INTEGER);
}

function pathOf(uri: string): string | undefined {
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined; // An untitled document, or one of another scheme.
  }
}

/** Shows tool calls, edits, commands and errors in one or a few lines each. */

import { printable } from '../../shared/text/plain-sight.ts';
import { OWN_TOOLS, TOOLS } from '../../shared/tools/catalogue.ts';
import { Diff, ToolCallMetadata, ToolOutcome } from '../../shared/wire/documents.ts';
import { RENDER_LIMITS } from '../limits.ts';
import { asTyped } from '../terminal/own-command.ts';
import type { Paint } from '../terminal/paint.ts';
import { shortLine } from '../terminal/short-line.ts';
import { diffLines, newLines } from './diff.ts';
import type { Pen } from './pen.ts';
import { formatSeconds, writeApproval, writeAttention, writeResolved } from './run.ts';
import type { Shown } from './shown.ts';
import { writeSubagentEvent } from './subagent.ts';
import type { Drawing, ScreenPlace } from './text.ts';

export function writeToolEvent({ pen, shown, event, place, paint }: Drawing): void {
  const title = titleOf(shown, paint);
  const isNew = title !== null && (!place.before || titleOf(place.before, paint) === null);
  if (isNew) writeTitle(pen, title, shown, place);
  const goesOn = { ...place, isLast: place.isLast || isNew };
  switch (event.type) {
    case 'tool_output':
      writeOutput(pen, shown, goesOn, paint);
      break;
    case 'tool_result':
      if (shown.type === 'tool_call') writeOutcome(pen, shown, goesOn, paint);
      break;
    case 'approval_request':
      writeApproval(pen, event, paint);
      break;
    case 'approval_resolved':
      writeResolved(pen, event, paint);
      break;
    case 'subagent_update':
    case 'subagent_ask':
    case 'subagent_answered': {
      const { arguments: args, toolName } = shown.metadata;
      const task = String(Object(args)['description'] ?? toolName ?? '');
      writeSubagentEvent(pen, task, event, paint);
      break;
    }
    case 'attention':
      // A snapshot may have shown it before.
      if (place.before?.attended !== true) writeAttention(pen, event, paint);
      break;
    case 'document_end':
      writeLastLine(pen, shown, goesOn, paint);
      writeEnd(pen, shown, pen.text === '' ? goesOn : { ...goesOn, isLast: true }, paint);
      break;
    default:
    // The other events can only change the title.
  }
}

/** The first line of a document, or null while its subject is unknown. */
function titleOf({ type, metadata }: Shown, paint: Paint): string | null {
  const { toolName, arguments: args, filePath, newPath, operation, command } = metadata;
  switch (type) {
    case 'tool_call':
      if (toolName === undefined || args === undefined) return null;
      return `• ${paint('bold', inLine(toolName))} ${summaryOfCall(metadata, Object(args))}`.trimEnd();
    case 'file_edit':
      if (filePath === undefined || (operation === 'rename' && newPath === undefined)) return null;
      return `• ${paint('bold', inLine(operation ?? 'edit'))} ${paint('cyan', inLine(filePath))}${newPath === undefined ? '' : ` → ${paint('cyan', inLine(newPath))}`}`;
    case 'terminal_command':
      return command === undefined ? null : paint('bold', `$ ${printable(String(command))}`);
    default:
      return null;
  }
}

/** Tool calls in a row have no empty line between them; everything else has one above it. */
function writeTitle(pen: Pen, title: string, shown: Shown, { lastType }: ScreenPlace): void {
  if (shown.type === 'tool_call' && lastType === 'tool_call') pen.line();
  else pen.gap();
  pen.write(title);
}

/** Repeats the document's title if other documents were written in between. */
function goOn(pen: Pen, shown: Shown, { isLast }: ScreenPlace, paint: Paint): void {
  if (isLast && pen.lineEnds === 0) return;
  pen.line();
  pen.write(titleOf(shown, paint) ?? `• ${inLine(shown.metadata['toolName'] ?? shown.type)}`);
}

function writeOutput(pen: Pen, shown: Shown, place: ScreenPlace, paint: Paint): void {
  const from = place.before?.outputShown ?? 0;
  writeLines(pen, shown, { from, to: shown.outputShown }, place, paint);
}

/** Writes the unfinished last line of output: the document is over, or another document continues below it. */
export function writeLastLine(pen: Pen, shown: Shown, place: ScreenPlace, paint: Paint): void {
  const range = { from: shown.outputShown, to: shown.liveOutput.length };
  writeLines(pen, shown, range, place, paint);
}

function writeLines(
  pen: Pen,
  shown: Shown,
  { from, to }: { readonly from: number; readonly to: number },
  place: ScreenPlace,
  paint: Paint,
): void {
  if (from >= to) return;
  if (!place.isLast) goOn(pen, shown, place, paint);
  if (from === 0 || !place.isLast) pen.line();
  pen.indented(printable(lastStates(shown.liveOutput.slice(from, to))));
}

/** Keeps only the last state of each line that carriage returns rewrote. */
export function lastStates(text: string): string {
  if (!text.includes('\r')) return text;
  const lines = text.replaceAll(ERASURES, '').split('\n');
  return lines.map((line) => line.split('\r').findLast((state) => state !== '') ?? '').join('\n');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them.
const ERASURES = /\u001b\[[0-2]?K/g;

/** Writes `ok` with a summary of the result, or `failed`; the error that follows gives the reason. */
function writeOutcome(pen: Pen, shown: Shown, place: ScreenPlace, paint: Paint): void {
  goOn(pen, shown, place, paint);
  const result = ToolOutcome.safeParse(shown.metadata['result']).data;
  if (result?.status === 'success') {
    pen.write(` ${paint('green', 'ok')} ${paint('dim', summaryOfResult(result.data))}\n`);
  } else {
    pen.write(` ${paint('red', 'failed')}\n`);
  }
}

function writeEnd(pen: Pen, shown: Shown, place: ScreenPlace, paint: Paint): void {
  const { type, metadata } = shown;
  const failed = ToolOutcome.safeParse(metadata['result']).data?.status === 'error';
  if (type === 'error') writeError(pen, shown, paint);
  else if (metadata['interrupted'] === true) pen.write(` ${paint('dim', '(interrupted)')}\n`);
  else if (type === 'tool_call') {
    // A terminal shows no images: it says what there is.
    pen.line();
    for (const name of imageNames(metadata)) pen.write(`  ${paint('dim', name)}\n`);
  } else if (failed) writeOutcome(pen, shown, place, paint);
  else if (type === 'file_edit') writeEdit(pen, shown, place, paint);
  else writeExit(pen, shown, place, paint);
}

/** The kind and size of each image that a tool returned. */
export function imageNames(metadata: Shown['metadata']): string[] {
  const { images = [] } = ToolCallMetadata.pick({ images: true }).safeParse(metadata).data ?? {};
  return images.map(({ mimeType, data }) => {
    const kilobytes = Math.ceil((data.length * 3) / 4 / 1_000);
    return `image: ${mimeType}, ${kilobytes} KB`;
  });
}

function writeEdit(pen: Pen, shown: Shown, place: ScreenPlace, paint: Paint): void {
  goOn(pen, shown, place, paint);
  pen.write('\n');
  const diff = Diff.safeParse(shown.metadata['diff']).data;
  const isNew = shown.metadata['operation'] === 'create' && shown.content !== '';
  const lines = diff ? diffLines(diff, paint) : isNew ? newLines(shown.content, paint) : [];
  for (const line of lines) pen.write(`  ${line}\n`);
}

function writeExit(pen: Pen, shown: Shown, place: ScreenPlace, paint: Paint): void {
  if (!place.isLast) goOn(pen, shown, place, paint);
  pen.line();
  const { output } = shown.metadata;
  if (shown.liveOutput === '') pen.indented(lastLines(printable(lastStates(String(output ?? '')))));
  pen.line();
  pen.write(`  ${exitLine(shown.metadata, paint)}\n`);
}

/** How a command ended, or that it runs on. */
export function exitLine(metadata: Shown['metadata'], paint: Paint): string {
  const { exitCode, duration_ms: durationMs, process_id: id } = metadata;
  const seconds = typeof durationMs === 'number' ? ` after ${formatSeconds(durationMs)}` : '';
  if (exitCode === undefined && seconds !== '') {
    const handle = id === undefined ? '' : ` as ${inLine(id)}`;
    return paint('dim', `runs on in the background${handle}`);
  }
  return paint(exitCode === 0 ? 'dim' : 'red', `exit code ${inLine(exitCode)}${seconds}`);
}

function writeError(pen: Pen, { content, metadata }: Shown, paint: Paint): void {
  pen.gap();
  const [first = '', ...rest] = linesOf(asTyped(content));
  const { details = content } = metadata;
  if (details !== content) rest.push(...linesOf(asTyped(String(details))));
  pen.write(`${paint('red', `error ${inLine(metadata['errorCode'])}: ${first}`)}\n`);
  for (const line of rest) pen.write(`${paint('red', `  ${line}`)}\n`);
}

function linesOf(text: string): string[] {
  return printable(text).trimEnd().split('\n');
}

/** What a call is about: the arguments that its tool shows, or all. `metadata` is the document's. */
export function summaryOfCall(
  { toolName, isOfApp }: Readonly<Record<string, unknown>>,
  args: Readonly<Record<string, unknown>>,
): string {
  const shows = isOfApp ? undefined : SHOWS.get(String(toolName));
  const shown = Object.entries(args).filter(([name]) => shows?.includes(name) ?? true);
  return summaryOfArguments(Object.fromEntries(shown));
}

const SHOWS = new Map([...TOOLS, ...OWN_TOOLS].map(({ name, shows }) => [name, shows]));

/** The values of all arguments in their order, cut short, in the same form for every tool. */
export function summaryOfArguments(args: Readonly<Record<string, unknown>>): string {
  const values = Object.values(args).map((value) =>
    typeof value === 'string' ? value : JSON.stringify(value),
  );
  return shortLine(values.join(' '));
}

/** What a tool returned, in a few words. */
export function summaryOfResult(data: unknown): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  const lines = text.trimEnd().split('\n').length;
  return lines > 1 ? `${lines} lines` : shortLine(text);
}

function lastLines(text: string): string {
  const lines = text.trimEnd().split('\n');
  const hidden = lines.length - RENDER_LIMITS.maxOutputLines;
  if (hidden <= 0) return lines.join('\n');
  return [`… ${hidden} more lines`, ...lines.slice(hidden)].join('\n');
}

function inLine(value: unknown): string {
  return shortLine(String(value ?? '?'));
}

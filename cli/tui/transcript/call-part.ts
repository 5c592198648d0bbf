/** Any other tool: what it was asked for and what it returned, in one line. */
import { type Component, truncateToWidth, visibleWidth } from '@earendil-works/pi-tui';
import type { Document } from '../../../client/index.ts';
import { ToolOutcome } from '../../../shared/wire/documents.ts';
import { SubagentState } from '../../../shared/wire/subagents.ts';
import { UndoReport } from '../../../shared/wire/undo.ts';
import { resultText } from '../../render/result-text.ts';
import { count } from '../../render/run.ts';
import { progressOf } from '../../render/subagent.ts';
import { imageNames, summaryOfCall, summaryOfResult } from '../../render/tool.ts';
import type { Paint, Style } from '../../terminal/paint.ts';
import { shortLine } from '../../terminal/short-line.ts';
import { Cached } from './cached.ts';
import { type ScreenDocumentProps, textIn } from './document-props.ts';
import { endOf, hiddenLine, INDENT, indented, wrapped } from './lines.ts';
import type { Look } from './look.ts';

export function callPart({ document, look }: ScreenDocumentProps): Component {
  return new Cached((width) => {
    const room = width - INDENT.length;
    return [
      titleOf(document, width, look.paint),
      ...indented(subagentLines(document, room, look.paint)),
      ...indented(look.isExpanded ? wholeCall(document, room, look) : []),
      ...indented(imageNames(document.metadata).map((name) => look.paint('dim', name))),
      ...indented(undoLines(document, room)),
    ];
  });
}

function titleOf(document: Document, width: number, paint: Paint): string {
  const { metadata } = document;
  const outcome = ToolOutcome.safeParse(metadata['result']).data;
  const [style, result] = outcomeOf(outcome);
  const toolName = textIn(document, 'toolName');
  const name = `${paint(style, '•')} ${paint('bold', shortLine(toolName))}`;
  const call = `${name} ${summaryOfCall(metadata, Object(metadata['arguments']))}`.trimEnd();
  // The result has what the call leaves, and a third of the line at least.
  const room = Math.max(width - visibleWidth(call), Math.floor(width / 3)) - 1;
  const end = result === '' ? '' : ` ${truncateToWidth(result, room, '…')}`;
  const shown = truncateToWidth(call, Math.max(1, width - visibleWidth(end)), '…');
  return `${shown}${outcome?.status === 'error' ? paint('red', end) : paint('dim', end)}`;
}

/** The colour of the mark, and the result in short; empty while the call runs. */
function outcomeOf(outcome: ToolOutcome | undefined): [Style, string] {
  if (!outcome) return ['dim', ''];
  if (outcome.status === 'error') return ['red', 'failed'];
  return ['green', `→ ${summaryOfResult(outcome.data)}`];
}

/** What the subagent that the call started is at. */
function subagentLines({ metadata }: Document, width: number, paint: Paint): string[] {
  const state = SubagentState.safeParse(metadata['subagent']).data;
  if (!state) return [];
  const { type, status, model, turnCount, toolCallCount } = state;
  const effort = `${count(turnCount, 'turn')} · ${count(toolCallCount, 'tool call')}`;
  const words = `${type} (${model}): ${progressOf(state) ?? `${status} · ${effort}`}`;
  return wrapped(words, width).map((line) => paint('dim', line));
}

function wholeCall({ metadata }: Document, width: number, look: Look): string[] {
  const outcome = ToolOutcome.safeParse(metadata['result']).data;
  const given = JSON.stringify(metadata['arguments'] ?? {}, null, 2);
  return [given, ...(outcome ? [resultText(outcome)] : [])].flatMap((text) => {
    const { text: last, hidden } = endOf(text, look);
    const lines = wrapped(last, width).map((line) => look.paint('dim', line));
    return [...hiddenLine(hidden, 'earlier', look), ...lines];
  });
}

/** What becomes of each file. */
function undoLines({ metadata }: Document, width: number): string[] {
  const { files = [] } = UndoReport.safeParse(metadata['undo']).data ?? {};
  return files.flatMap(({ path, action, reason }) =>
    wrapped(`${action} ${path}${reason === undefined ? '' : `: ${reason}`}`, width),
  );
}

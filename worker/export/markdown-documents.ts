/** Renders each type of document as Markdown. The metadata of an unfinished document may lack any field. Pure. */

import { attentionSentence } from '../../shared/shown/attention.ts';
import { indentedJson } from '../../shared/text/json.ts';
import {
  type Answer,
  type Diff,
  type Document,
  DocumentMetadata,
  type Question,
  type Todo,
  type TodoStatus,
} from '../../shared/wire/documents.ts';
import {
  codeSpan,
  details,
  escapeInline,
  fence,
  fenceText,
  quote,
  trimLines,
} from './markdown-text.ts';

/** '' for a document without anything to show. */
export function renderDocument(document: Document): string {
  const content = document.content ?? '';
  switch (document.type) {
    case 'text':
      return trimLines(content);
    case 'reasoning':
      return details('Reasoning', quote(trimLines(content)));
    case 'code_block':
      return fence(String(document.metadata['language'] ?? ''), content);
    case 'code_reference':
      return renderReference(document, content);
    case 'file_edit':
      return renderFileEdit(document, content);
    case 'tool_call':
      return renderToolCall(document);
    case 'terminal_command':
      return renderCommand(document);
    case 'plan':
      return renderPlan(document, content);
    case 'todo_update':
      return renderTodoUpdate(document);
    case 'clarification':
      return renderClarification(document, content);
    case 'error':
      return renderError(document, content);
    default:
      return document.type satisfies never;
  }
}

function renderReference({ metadata }: Document, content: string): string {
  const { data } = DocumentMetadata.code_reference.partial().safeParse(metadata);
  const { filePath = '', startLine, endLine, language = '' } = data ?? {};
  const lines = startLine === undefined ? '' : `, lines ${startLine} to ${endLine ?? startLine}`;
  return `${codeSpan(filePath)}${lines}\n\n${fence(language, content)}`;
}

function renderFileEdit({ metadata }: Document, content: string): string {
  const { data } = DocumentMetadata.file_edit.partial().safeParse(metadata);
  const { filePath = '', newPath, operation = 'edit', language = '', diff, result } = data ?? {};
  const moved = newPath === undefined ? '' : ` to ${codeSpan(newPath)}`;
  const head = `**File: ${operation}** ${codeSpan(filePath)}${moved}`;
  const change = diff ? fence('diff', diffText(diff)) : content && fenceText(language, content);
  const refused = result && quote(`Not applied: ${escapeInline(asText(result.data))}`);
  return joined([head, change, refused]);
}

/** The change as one hunk of a unified diff. */
function diffText({ oldString, newString, startLine }: Diff): string {
  const removed = linesOf(oldString);
  const added = linesOf(newString);
  return [
    `@@ -${startLine},${removed.length} +${startLine},${added.length} @@`,
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
  ].join('\n');
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

function renderToolCall({ metadata }: Document): string {
  const { data } = DocumentMetadata.tool_call.partial().safeParse(metadata);
  const { toolName = 'tool', arguments: args, result } = data ?? {};
  const summary = `${toolName}${result?.status === 'error' ? ' (failed)' : ''}`;
  const asked = args && fence('json', indentedJson(args));
  const answered = result && fenceText('', asText(result.data));
  return details(summary, joined([asked, answered]));
}

function renderCommand({ metadata }: Document): string {
  const { data } = DocumentMetadata.terminal_command.partial().safeParse(metadata);
  const { command = '', workingDirectory, exitCode, output = '', result } = data ?? {};
  // A finished call has a duration. Without an exit code its command still runs.
  const isRunning = exitCode === undefined && data?.duration_ms !== undefined;
  const left = (data?.newlyProtected ?? []).map((item) => attentionSentence(item));
  const where = workingDirectory === undefined ? '' : ` in ${codeSpan(workingDirectory)}`;
  return joined([
    `**Command**${where}`,
    fenceText('sh', command),
    output && fenceText('', output),
    exitCode !== undefined && `Exit code ${exitCode}.`,
    isRunning && 'Runs on in the background.',
    left.map((sentence) => `- ${escapeInline(sentence)}`).join('\n'),
    result && quote(`Not run to its end: ${escapeInline(asText(result.data))}`),
  ]);
}

function renderPlan({ metadata }: Document, content: string): string {
  const { data } = DocumentMetadata.plan.partial().safeParse(metadata);
  const { title = 'Plan', overview, todos = [] } = data ?? {};
  return joined([
    `**Plan: ${escapeInline(title)}**`,
    overview && escapeInline(overview),
    trimLines(content),
    todos.map(renderTodo).join('\n'),
  ]);
}

function renderTodo({ id, content, status, dependencies }: Todo): string {
  const after = dependencies.length > 0 ? `, after ${dependencies.map(codeSpan).join(', ')}` : '';
  return `${checkbox(status)} ${escapeInline(content)} (${codeSpan(id)}${after})`;
}

function renderTodoUpdate({ metadata }: Document): string {
  const { data } = DocumentMetadata.todo_update.partial().safeParse(metadata);
  const lines = (data?.todos ?? []).map(
    ({ id, status, content }) =>
      `${checkbox(status)} ${content === undefined ? codeSpan(id) : escapeInline(content)}${STATE[status]}`,
  );
  return joined(['**Todos**', lines.join('\n')]);
}

function checkbox(status: TodoStatus): string {
  return `- [${status === 'completed' ? 'x' : ' '}]`;
}

const STATE: Readonly<Record<TodoStatus, string>> = {
  pending: '',
  completed: '',
  in_progress: ' (in progress)',
  cancelled: ' (cancelled)',
};

function renderClarification({ metadata }: Document, content: string): string {
  const { data } = DocumentMetadata.clarification.partial().safeParse(metadata);
  const { questions = [], answers = [] } = data ?? {};
  return joined([
    trimLines(content),
    ...questions.map((question) =>
      renderQuestion(
        question,
        answers.find(({ questionId }) => questionId === question.id),
      ),
    ),
  ]);
}

function renderQuestion({ text, options }: Question, answer: Answer | undefined): string {
  const chosen = new Set(answer?.optionIds);
  const lines = options.map(
    ({ id, label }) => `- [${chosen.has(id) ? 'x' : ' '}] ${escapeInline(label)}`,
  );
  return joined([
    `**Question:** ${escapeInline(text)}`,
    lines.join('\n'),
    answer?.text && quote(answer.text),
  ]);
}

function renderError({ metadata }: Document, content: string): string {
  const { errorCode = '', details: exactly = content } =
    DocumentMetadata.error.partial().safeParse(metadata).data ?? {};
  const said = `**Error** ${codeSpan(errorCode)}: ${escapeInline(content)}`;
  return joined([quote(said), exactly !== content && fenceText('', exactly)]);
}

function asText(data: unknown): string {
  return typeof data === 'string' ? data : indentedJson(data);
}

/** Joins paragraphs, without empty and missing ones. */
function joined(parts: readonly (string | false | null | undefined)[]): string {
  return parts.filter((part) => part).join('\n\n');
}

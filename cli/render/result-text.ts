/** What a call returned, as text, and which errors say the same once more. */
import type { ChatResponse, Document } from '../../shared/wire/documents.ts';
import { ToolOutcome } from '../../shared/wire/documents.ts';

/** What the model reads of the result, as text. */
export function resultText({ data }: ToolOutcome): string {
  return typeof data === 'string' ? data : JSON.stringify(data, null, 2);
}

/** Whether a command or an edit before it says the same: it shows why it failed. */
export function isShownByCall(document: Document, { documents }: ChatResponse): boolean {
  if (document.type !== 'error') return false;
  const details = String(document.metadata['details'] ?? '');
  return documents.slice(0, documents.indexOf(document)).some(({ type, metadata }) => {
    if (type !== 'terminal_command' && type !== 'file_edit') return false;
    const outcome = ToolOutcome.safeParse(metadata['result']).data;
    return outcome?.status === 'error' && resultText(outcome) === details;
  });
}

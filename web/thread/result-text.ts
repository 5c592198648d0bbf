import type { ToolOutcome } from '../../client/index.ts';

/** What a tool answered, as text for people. */
export function resultText({ data }: ToolOutcome): string {
  return typeof data === 'string' ? data : JSON.stringify(data, null, 2);
}

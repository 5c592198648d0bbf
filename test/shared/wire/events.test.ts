import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { StreamEvent, TapeEvent } from '../../../shared/wire/events.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

it('docs/protocol.md names every event of a stream, and no other', () => {
  const document = readFileSync(join(ROOT, 'docs', 'protocol.md'), 'utf8');
  const [, section = ''] = /^## Events$(.*?)^### /ms.exec(document) ?? [];
  const listed = [...section.matchAll(/^- `(\w+)` `\{/gm)].map(([, type]) => type);
  expect(listed.sort()).toEqual(typesOf(StreamEvent.options).sort());
});

it('an older program does not know a new event of a tape, so its state has another format', () => {
  const stored = typesOf(TapeEvent.options);
  expect(
    stored.filter((type) => !STORED.includes(type)),
    'Older programs read this event as damage. Add a step to FORMAT_STEPS (local/state/format.ts), with what AGENTS.md says of migrations, so that they refuse a state that may have it. Then add its type to STORED here.',
  ).toEqual([]);
  expect(
    STORED.filter((type) => !stored.includes(type)),
    'Tapes of before have this event: without it they are damaged',
  ).toEqual([]);
});

function typesOf(options: readonly (typeof StreamEvent.options)[number][]): string[] {
  return options.map(({ shape }) => shape.type.value);
}

/** The events that the newest format of `FORMAT_STEPS` has. */
const STORED = [
  'message',
  'message_update',
  'steered',
  'attached',
  'response_start',
  'response_model',
  'model_wait',
  'mode_update',
  'context_summary',
  'budget_near',
  'document_start',
  'content_delta',
  'tool_call_start',
  'tool_call_arguments',
  'tool_output',
  'tool_result',
  'document_end',
  'attention',
  'approval_request',
  'approval_resolved',
  'clarification_request',
  'client_call',
  'subagent_update',
  'subagent_ask',
  'subagent_answered',
  'plan_update',
  'conversation_update',
  'done',
];

/** How an approval ended. */
import type { Document } from '../../client/index.ts';
import type { AnsweredApproval } from '../../shared/wire/events.ts';
import { words } from '../words/thread.ts';

/** Undefined while nothing was answered. */
export function answeredIn(document: Document | undefined): AnsweredApproval | undefined {
  return document?.metadata['answered'] as AnsweredApproval | undefined;
}

export function AnsweredLine({ decision, by, scope }: AnsweredApproval) {
  return (
    <p class="hint">
      {words.answered[scope ?? decision] ?? decision} {words.by[by] ?? by}
    </p>
  );
}

/** Decides what is worth a notification, and what it says. It never holds text of messages or code. Pure. */
import type { ConversationInfo } from '../../shared/api/conversations.ts';
import type { PushKind } from '../../shared/api/push.ts';
import type { EndedRun, Listed } from '../ports/account.ts';
import { PUSH_SENDING } from './limits.ts';

/** The notification for the end of a run. Undefined for a run that a person cancelled, and for a short one. */
export function kindOfEnd(
  { agent }: Pick<Listed, 'agent'>,
  run: EndedRun | undefined,
): PushKind | undefined {
  if (!run || (agent === undefined && run.durationMs < PUSH_SENDING.longRunMs)) return undefined;
  if (run.status === 'error') return 'failed';
  return run.status === 'completed' ? 'ended' : undefined;
}

/** Whether something waits that did not wait before. Both are `asks` of {@link Activity}. */
export function hasNewAsk(before: string, asks: string): boolean {
  const known = new Set(before.split('\n'));
  return asks !== '' && asks.split('\n').some((ask) => !known.has(ask));
}

/** What a notification is about. */
export interface PushNews {
  readonly kind: PushKind;
  /** As the account lists it: a private one has no title of its own there. */
  readonly conversation: Pick<ConversationInfo, 'id' | 'title'>;
  /** How many approvals and questions wait in the whole account. */
  readonly waiting: number;
}

/** What a notification says. `link` opens the conversation in the page at `origin`. */
export function messageOf(
  { kind, conversation }: PushNews,
  origin: string,
): { readonly title: string; readonly body: string; readonly link: string } {
  const link = `${origin}/#/c/${conversation.id}`;
  return { title: conversation.title, body: BODIES[kind], link };
}

const BODIES: Readonly<Record<PushKind, string>> = {
  waiting: 'Waits for you',
  ended: 'The answer is complete',
  failed: 'The answer failed',
};

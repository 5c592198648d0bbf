/** A link to scripted companions, and a question for them. What is started here ends with its test. */

import { randomUUID } from 'node:crypto';
import { onTestFinished, vi } from 'vitest';
import { Distrust } from '../../../../../bridge/admission/distrust.ts';
import { newBridgeId, newCallId, newConversationId } from '../../../../../shared/ids.ts';
import {
  type CompanionScript,
  type ScriptedCompanion,
  startCompanion,
} from '../../../../../test/far-ends/scripted-companion.ts';
import { temporaryFolder } from '../../../../../test/local/temporary-folder.ts';
import type { OpenQuestion } from '../../../../host/asker.ts';
import type { Candidate } from '../../../ide/discovery/candidate.ts';
import { identityOf } from '../../../ide/link/confirmed.ts';
import { LINK_LIMITS, type LinkLimits } from '../../../ide/link/limits.ts';
import { EditorLink, type EditorView } from '../../../ide/link/link.ts';

export async function start(script?: CompanionScript): Promise<ScriptedCompanion> {
  const companion = await startCompanion(script);
  onTestFinished(() => companion.close());
  return companion;
}

/** The lines for the terminal, from now on. */
export function logLines(): string[] {
  const lines: string[] = [];
  vi.spyOn(console, 'error').mockImplementation((line) => void lines.push(String(line)));
  return lines;
}

export interface Linked {
  readonly link: EditorLink;
  readonly distrust: Distrust;
  /** What a search for companions finds, the best first. */
  candidates: Candidate[];
  /** What the owner has confirmed. */
  readonly confirmed: Set<string>;
}

interface Linking {
  readonly distrust?: Distrust;
  readonly isConfirmed?: boolean;
  readonly onView?: (view: EditorView | undefined) => void;
}

/** Every companion of the list is confirmed, unless `isConfirmed` is false. */
export function linkTo(
  candidates: Candidate[],
  {
    isConfirmed = true,
    onView,
    distrust = new Distrust(temporaryFolder()),
    ...limits
  }: Partial<LinkLimits> & Linking = {},
): Linked {
  const linked: Omit<Linked, 'link' | 'distrust'> = {
    candidates,
    confirmed: new Set(isConfirmed ? candidates.flatMap((each) => identityOf(each) ?? []) : []),
  };
  const link = new EditorLink({
    search: async () => ({ ranked: linked.candidates, hosts: ['127.0.0.1'] }),
    isConfirmed: async (candidate) => linked.confirmed.has(identityOf(candidate) ?? 'none'),
    distrust,
    ...(onView && { onView }),
    limits: { ...LINK_LIMITS, retryMs: 20, maxRetryMs: 50, lingerMs: 100, ...limits },
  });
  onTestFinished(() => link.end());
  return Object.assign(linked, { link, distrust });
}

/** A question about an edit of `path`. */
export function editQuestion(path: string, newText: string): OpenQuestion {
  return {
    question: {
      callId: newCallId(randomUUID()),
      conversationId: newConversationId(randomUUID()),
      bridgeId: newBridgeId(randomUUID()),
      nonce: randomUUID(),
      proposal: {
        kind: 'edit',
        tool: 'write',
        path: 'a.txt',
        operation: 'edit',
        diff: [],
        beforeHash: null,
        afterHash: null,
      },
    },
    reason: 'why',
    edited: { path, newText },
  };
}

/** Resolves when the condition holds; the test's own time limit is the bound. */
export async function until(condition: () => unknown): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Hooks of the owner and of the workspace: programs that object to calls. */

import { logEvent } from '../../machine/log.ts';
import type { BridgeGround, Feature } from '../feature.ts';
import { findHooks, type HookPlace } from './find.ts';
import { type HookRun, Hooks } from './hooks.ts';

export function hooks({ config, workspace, confinement, owner, audit }: BridgeGround): Feature {
  const place = { workspace, stateDir: config.stateDir };
  const onRun = ({ call, hook: { source, command }, answer }: HookRun) => {
    const { conversationId: conversation, callId, tool, isPrivate } = call;
    const reason = answer.decision === 'none' || isPrivate ? undefined : answer.reason;
    const said = { source, command, decision: answer.decision, reason };
    audit.note({ type: 'hook', conversation, call: callId, tool, ...said });
  };
  const { isDistrusted } = owner;
  const own = new Hooks({ ...place, confinement, isDistrusted, onRun });
  void logUntrusted(place);
  return {
    guard: async ({ definition: { name: tool, origin, effect }, ...call }, signal) =>
      await own.judge({ ...call, tool, origin }, { changes: effect !== 'read', signal }),
  };
}

/** The owner may believe that they run. A file that cannot be read is reported with the first call. */
async function logUntrusted(place: HookPlace): Promise<void> {
  const found = await findHooks(place).catch(() => undefined);
  const count = found?.hooks.filter(({ isTrusted }) => !isTrusted).length ?? 0;
  const some = count === 1 ? 'A hook does' : `${count} hooks do`;
  const message = `${some} not run before you trust them: \`drawbridge hooks trust\``;
  if (count > 0) logEvent({ event: 'attention_needed', message });
}

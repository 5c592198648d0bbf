/** Lets hooks of the owner and of the workspace judge calls. A hook only tightens: it asks or forbids. */

import { compute } from '../../machine/compute/compute.ts';
import { logTrouble } from '../../machine/log.ts';
import { type Confinement, runFilter } from '../../packages/sandbox/index.ts';
import { CONTENT_TASKS } from '../compute/tasks.ts';
import { type FoundHooks, findHooks, type HookPlace } from './find.ts';
import { answerOfExit, answerOfFailure, FORMATS, type Hook, type HookAnswer } from './formats.ts';
import { HOOK_LIMITS } from './limits.ts';
import type { HookedCall, ShownCall } from './shown-call.ts';
import { readTrusted } from './trust.ts';

/** The strictest of the hooks' answers. */
export interface HookVerdict {
  readonly decision: 'ask' | 'deny';
  /** One sentence. */
  readonly reason: string;
}

/** What a hook said, for the record. */
export interface HookRun {
  readonly call: HookedCall;
  readonly hook: Hook;
  readonly answer: HookAnswer;
}

export interface HookFacts extends HookPlace {
  readonly confinement: Confinement;
  /** Whether the person's editor does not trust the folder: it starts no program of it either. */
  readonly isDistrusted: () => boolean;
  readonly onRun: (run: HookRun) => void;
}

export class Hooks {
  readonly #facts: HookFacts;

  constructor(facts: HookFacts) {
    this.#facts = facts;
  }

  /**
   * Undefined where no hook has anything against the call. Only trusted hooks run, in the sandbox, all at once. Where one
   * that was trusted is gone or changed, also while it ran, a call that changes something is asked about: it might have
   * been forbidden.
   * Rejects only when the signal aborts.
   */
  async judge(
    call: HookedCall,
    { changes, signal }: { readonly changes: boolean; readonly signal: AbortSignal },
  ): Promise<HookVerdict | undefined> {
    const found = await this.#find().catch((error: unknown) => {
      logTrouble({ event: 'hooks_unreadable' }, 'Calls that change something ask', error);
      return undefined;
    });
    if (found === null) return undefined;
    if (!found) return changes ? { decision: 'ask', reason: UNREADABLE } : undefined;
    const trusted = found.hooks.filter(({ isTrusted }) => isTrusted);
    const answers = await Promise.all(trusted.map(({ hook }) => this.#ask(hook, call, signal)));
    signal.throwIfAborted();
    // A command of another call may have changed its script between the look and its start.
    const after = changes && trusted.length > 0 ? await this.#find().catch(() => undefined) : found;
    const [missing] = [...found.missing, ...(after?.missing ?? found.missing)];
    const changed = changes && missing ? [changedVerdict(missing.source)] : [];
    const verdicts = [...answers.flatMap((answer) => answer ?? []), ...changed];
    return verdicts.find(({ decision }) => decision === 'deny') ?? verdicts[0];
  }

  /** Null where the owner has trusted none: then no file of a hook is read for a call. */
  async #find(): Promise<FoundHooks | null> {
    const trusted = await readTrusted(this.#facts.stateDir);
    return trusted.length === 0 ? null : await findHooks(this.#facts);
  }

  async #ask(hook: Hook, call: HookedCall, signal: AbortSignal): Promise<HookVerdict | undefined> {
    const shown = FORMATS[hook.format].show(hook.event, call);
    if (!shown || !(await matches(hook, shown, signal))) return undefined;
    const answer = await this.#run(hook, shown, signal);
    signal.throwIfAborted();
    this.#facts.onRun({ call, hook, answer });
    if (answer.decision === 'none') return undefined;
    const { decision, reason } = answer;
    return { decision, reason: `A hook of ${hook.source} says ${decision}: ${reason}` };
  }

  async #run(hook: Hook, { input }: ShownCall, signal: AbortSignal): Promise<HookAnswer> {
    const { confinement, isDistrusted, workspace } = this.#facts;
    const cwd = workspace.root;
    if (confinement.kind === 'none') {
      return answerOfFailure('it runs only in the sandbox, and there is none', hook);
    }
    if (isDistrusted()) return answerOfFailure('the editor does not trust this folder', hook);
    const over = AbortSignal.any([signal, AbortSignal.timeout(hook.timeoutMs)]);
    const { maxOutputBytes, maxReasonChars } = HOOK_LIMITS;
    const filter = {
      command: hook.command,
      cwd,
      input: `${JSON.stringify(input)}\n`,
      maxOutputBytes,
      maxErrorChars: maxReasonChars,
      variables: { CLAUDE_PROJECT_DIR: cwd, CURSOR_PROJECT_DIR: cwd },
    };
    const end = await runFilter(confinement, filter, over);
    if (end.state !== 'ended') return answerOfFailure(end.reason, hook);
    const output = end.output.toString('utf8');
    if (end.code === 0) return FORMATS[hook.format].answer(output);
    return answerOfExit(end.code, end.errors.trim() || output, hook);
  }
}

/** Names between bars are whole names. A pattern that cannot be read, or takes too long, matches: the hook decides. */
async function matches(
  { matcher, format }: Hook,
  { names }: ShownCall,
  signal: AbortSignal,
): Promise<boolean> {
  if (matcher === undefined) return true;
  if (format !== 'cursor' && /^[\w|]*$/.test(matcher)) {
    return matcher.split('|').some((name) => names.includes(name));
  }
  try {
    return await compute(CONTENT_TASKS.matchesAny, { pattern: matcher, texts: names }, signal);
  } catch {
    signal.throwIfAborted();
    return true;
  }
}

const UNREADABLE =
  'hooks.json in the state folder cannot be read, so no hook runs: `drawbridge hooks` says more.';

function changedVerdict(source: string): HookVerdict {
  const reason = `A hook of ${source} is no longer what you trusted, so it did not run: \`drawbridge hooks\` at the machine shows it.`;
  return { decision: 'ask', reason };
}

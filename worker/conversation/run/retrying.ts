/** A turn that failed before anything was shown: asked again later, or of another model. */
import { UPSTREAM_LIMITS } from '../../../shared/limits.ts';
import { imagesOf } from '../../../shared/requests.ts';
import { type Fallback, nextModel } from '../../upstream/fallback.ts';
import type { Answer } from '../../upstream/gateway.ts';
import { retryDelayMs } from '../../upstream/retry.ts';
import type { Run } from '../store/rows.ts';
import { modelOf } from './model-turn.ts';
import type { RunDeps } from './run-deps.ts';

/** With the same model while it has attempts, or with the next one; false when there is no other way. */
export function tryAgain(run: Run, { retry, fallback }: Answer, deps: RunDeps): boolean {
  if (fallback !== 'at_last' && tryAnother(run, fallback, deps)) return true;
  if (retry && tryLater(run, retry.afterMs, deps)) return true;
  return fallback === 'at_last' && tryAnother(run, fallback, deps);
}

/** On the tape, so that readers know it and no crash forgets it; it answers to the end of the run. */
function tryAnother(run: Run, fallback: Fallback, { log, recorder, settings }: RunDeps): boolean {
  const { model: requested, messages } = run.request;
  const said = [...messages, ...log.steers];
  const holdsImages = said.some(({ content }) => imagesOf(content).length > 0);
  const failed = modelOf(run, recorder);
  const model = nextModel({ requested, failed, holdsImages }, fallback, settings);
  if (model === null) return false;
  recorder.record([{ type: 'response_model', model }]);
  log.countFailure(run, 0, 0);
  return true;
}

/** Stored, because the object may sleep until then: what the upstream asked for holds for its next instance too. */
function tryLater(run: Run, afterMs: number | null, { log, now }: RunDeps): boolean {
  const failures = run.failures + 1;
  if (failures >= UPSTREAM_LIMITS.maxAttempts) return false;
  const delayMs = afterMs ?? retryDelayMs(failures, Math.random());
  log.countFailure(run, failures, Math.ceil(now() + delayMs));
  return true;
}

/** Notes at the server whether this conversation has a run in progress, so that the server's next start wakes it. */
import type { Env } from '../env.ts';
import { LevelReport } from '../level-report.ts';
import { runsOf } from '../objects.ts';
import { inTime, reach } from '../reach.ts';
import type { RunLog } from './log/run-log.ts';

export interface RunProgress {
  readonly isInProgress: boolean;
}

/** Without the note, the alarm wakes the conversation later: a note that fails or is lost needs no alarm of its own. */
export function newRunNote(env: Env, id: string, log: RunLog): LevelReport<RunProgress> {
  const isNoted = env.RUNS !== undefined;
  const present = () => ({ isInProgress: isNoted && log.current !== undefined });
  const note = async (isInProgress: boolean) => await runsOf(env)?.note(id, isInProgress);
  const send = ({ isInProgress }: RunProgress) =>
    reach<void>(() => inTime<void>(note(isInProgress)));
  return new LevelReport({ present, send }, present().isInProgress ? {} : present());
}

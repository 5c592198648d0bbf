/** Runs a program in the sandbox that is given a text and prints an answer. It can write nothing of the workspace. */
import { ToolFailure } from '../../machine/failure.ts';
import type { Confinement } from './launch/confinement.ts';
import { type Program, spawnLaunch } from './terminal/spawn-launch.ts';

export interface Filter {
  /** A line of a shell, in the sandbox. */
  readonly command: string;
  /** Absolute. */
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly input: string;
  readonly maxOutputBytes: number;
  readonly maxErrorChars: number;
}

/** A program that exited by itself. `code` is null after a signal. */
export interface FilterEnd {
  readonly state: 'ended';
  readonly code: number | null;
  readonly output: Buffer;
  readonly errors: string;
}

/** `reason` is half a sentence about the program, which begins with `it`. */
export interface FilterFailure {
  readonly state: 'late' | 'not_ended';
  readonly reason: string;
}

/** Never rejects. `late` once the signal has aborted. */
export async function runFilter(
  confinement: Pick<Confinement, 'start'>,
  filter: Filter,
  over: AbortSignal,
): Promise<FilterEnd | FilterFailure> {
  const { command, cwd, variables } = filter;
  const how = { permissions: [], isServer: true, isReadOnly: true };
  const request = { command, cwd, variables, ...how };
  const started = confinement.start(request, async ({ launch }) => spawnLaunch(launch, 'pipe'));
  const ended = started.then(async (program) => {
    try {
      return await outputOf(program, filter, over);
    } finally {
      // A program that goes on is not waited for: ending it can take longer than its caller may wait.
      void program.end().catch(() => {});
    }
  }, notStarted);
  return await Promise.race([ended, aborted(over)]);
}

const LATE: FilterFailure = { state: 'late', reason: 'it did not end in time' };
const FLOODED: FilterFailure = { state: 'not_ended', reason: 'it printed too much' };

function notStarted(error: unknown): FilterFailure {
  const why = error instanceof ToolFailure ? `: ${error.message}` : '';
  return { state: 'not_ended', reason: `it could not be started${why}` };
}

function aborted(over: AbortSignal): Promise<FilterFailure> {
  return new Promise((resolve) => {
    if (over.aborted) resolve(LATE);
    over.addEventListener('abort', () => resolve(LATE), { once: true });
  });
}

/** Gives the program its input, and resolves when it exits, prints too much, or is late. */
function outputOf(
  { child }: Program,
  { input, maxOutputBytes, maxErrorChars }: Filter,
  over: AbortSignal,
): Promise<FilterEnd | FilterFailure> {
  return new Promise((resolve) => {
    const { stdin, stdout, stderr } = child;
    if (over.aborted || !stdin || !stdout || !stderr) return resolve(LATE);
    over.addEventListener('abort', () => resolve(LATE), { once: true });
    const pieces: Buffer[] = [];
    let size = 0;
    let errors = '';
    stdout.on('data', (piece: Buffer) => {
      size += piece.length;
      if (size <= maxOutputBytes) return void pieces.push(piece);
      stdout.destroy();
      resolve(FLOODED);
    });
    stderr.setEncoding('utf8').on('data', (piece: string) => {
      errors += piece.slice(0, maxErrorChars - errors.length);
    });
    child.on('error', (error) => resolve(notStarted(error)));
    child.on('close', (code) => {
      resolve({ state: 'ended', code, output: Buffer.concat(pieces), errors });
    });
    // A program that ends before it has read its input says why by its exit.
    stdin.on('error', () => {}).end(input);
  });
}

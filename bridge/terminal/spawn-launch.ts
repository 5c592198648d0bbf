/** Starts a program with exactly the descriptors that it should have. */
import { type ChildProcess, spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import { COMMAND_LIMITS } from '../../shared/limits.ts';
import { INHERITED, NOTHING } from './inherited.ts';
import { FIRST_INPUT, type Launch, reportDescriptor, shellDescriptor } from './launch.ts';
import { endNamespace, endProcessGroup, type Identity, identify } from './process-group.ts';
import { readShellReport, type ShellReport } from './shell-report.ts';
import { endOf } from './stream-end.ts';

/** A program that was started. */
export interface Program {
  readonly child: ChildProcess;
  /** Ends all its processes, and resolves when they have gone or cannot be ended: at once where none was started. */
  readonly end: () => Promise<void>;
  /** What its shell has reported, once it has exited. */
  readonly shellReport: () => Promise<ShellReport | undefined>;
}

/** The program leads its own process group. Its outputs are pipes, and it gets no other descriptor of this process. */
export function spawnLaunch(launch: Launch, stdin: 'ignore' | 'pipe'): Program {
  const { file, args, cwd, env, inputs, descriptors = [], hasPidNamespace, shellBegins } = launch;
  const pipes = inputs.map(() => 'pipe' as const);
  const reports = [hasPidNamespace, shellBegins !== undefined].flatMap((is) =>
    is ? ['pipe' as const] : [],
  );
  const given: StdioItem[] = [stdin, 'pipe', 'pipe', ...pipes, ...descriptors, ...reports];
  const stdio = withoutInherited(given);
  const child = spawn(file, args, { cwd, env, detached: true, stdio });
  // It has none where this process may open no more files: then it only reports its error.
  const streams = [...(child.stdio ?? [])];
  for (const [index, bytes] of inputs.entries()) {
    const stream = streams[index + FIRST_INPUT];
    if (stream === null || stream === undefined || !('end' in stream)) continue;
    // A program that ends before it has read its input says why by its exit.
    stream.on('error', () => {}).end(bytes);
  }
  const others = inputs.length + descriptors.length;
  const said = shellBegins && streams[shellDescriptor(others, launch)];
  const shellReport =
    said instanceof Readable ? readShellReport(said, shellBegins) : async () => undefined;
  const report = hasPidNamespace && streams[reportDescriptor(others)];
  const first = report instanceof Readable ? firstInside(report) : undefined;
  const end = async () => {
    if (child.pid === undefined) return;
    await endProcessGroup(child.pid, { hasPidNamespace });
    await endNamespace(await first?.());
  };
  return { child, end, shellReport };
}

/**
 * Reads bubblewrap's report. The result resolves at bubblewrap's end with process 1 of its namespace, as this
 * process sees it; undefined where it ended before it had one, or so early that both have gone. The descriptor is
 * bubblewrap's alone and ends with it.
 */
function firstInside(report: Readable): () => Promise<Identity | undefined> {
  let said = '';
  let first: Identity | undefined;
  report.setEncoding('utf8').on('error', () => {});
  report.on('data', (text: string) => {
    said += text;
    const [, pid] = /"child-pid":\s*(\d+)\D/.exec(said) ?? [];
    first ??= pid === undefined ? undefined : identify(Number(pid));
  });
  return async () => {
    await endOf(report, COMMAND_LIMITS.killGraceMs);
    return first;
  };
}

type StdioItem = 'ignore' | 'pipe' | number;

/** `ignore` would leave an inherited descriptor open. */
function withoutInherited(given: readonly StdioItem[]): StdioItem[] {
  const others = INHERITED.filter((descriptor) => descriptor >= given.length);
  const length = Math.max(given.length, ...others.map((descriptor) => descriptor + 1));
  return Array.from({ length }, (_, descriptor) =>
    others.includes(descriptor) ? NOTHING : (given[descriptor] ?? 'ignore'),
  );
}

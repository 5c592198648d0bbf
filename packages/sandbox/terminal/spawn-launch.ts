/** Starts a program with exactly the descriptors that it should have. */
import { type ChildProcess, spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { newDeferred } from '../../../machine/deferred.ts';
import { type StdioItem, withoutInherited } from '../../../machine/inherited.ts';
import { COMMAND_LIMITS } from '../../../shared/limits.ts';
import {
  FIRST_INPUT,
  type HeldProcesses,
  type Launch,
  type PidNamespaceUse,
  reportDescriptor,
  type SharedProcesses,
  shellDescriptor,
  startDescriptor,
} from './launch.ts';
import { TERMINAL_LIMITS } from './limits.ts';
import {
  endNamespace,
  endProcessGroup,
  type Identity,
  identify,
  killProcessGroup,
} from './process-group.ts';
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
  const { file, args, cwd, env, inputs, descriptors = [], hasPidNamespace } = launch;
  const { shared, shellBegins } = launch;
  const isShared = shared !== undefined;
  const pipes = inputs.map(() => 'pipe' as const);
  const reports = [hasPidNamespace, isShared, shellBegins !== undefined].flatMap((is) =>
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
  const said = shellBegins && streams[shellDescriptor(others, { hasPidNamespace, isShared })];
  const shellReport =
    said instanceof Readable ? readShellReport(said, shellBegins) : async () => undefined;
  const report = hasPidNamespace && streams[reportDescriptor(others)];
  const inside = report instanceof Readable ? report : undefined;
  const start = streams[startDescriptor(others)];
  const { pid } = child;
  if (pid === undefined) return { child, end: async () => {}, shellReport };
  const end = inside && shared ? endShared(pid, inside, start, shared) : endOwn(inside);
  return { child, end: () => end(pid, { hasPidNamespace, isShared }), shellReport };
}

/** Ends a program and all its processes. */
type End = (leader: number, use: PidNamespaceUse) => Promise<void>;

/** Process 1 of a namespace of its own is identified when it is reported: later its number may be another's. */
function endOwn(report: Readable | undefined): End {
  let first: Identity | undefined;
  if (report) {
    onFirst(report, (pid) => {
      first = identify(pid);
    });
  }
  return async (leader, use) => {
    await endProcessGroup(leader, use);
    // The descriptor is bubblewrap's alone and ends with it.
    if (report) await endOf(report, COMMAND_LIMITS.killGraceMs);
    await endNamespace(first);
  };
}

/** A command does not begin where its processes cannot be held, or it is to end. */
function endShared(leader: number, report: Readable, start: unknown, shared: SharedProcesses): End {
  const held = newDeferred<HeldProcesses | undefined>();
  let isEnding = false;
  let looking: NodeJS.Timeout | undefined;
  onFirst(report, (pid) => {
    const processes = shared.hold(pid);
    held.resolve(processes);
    if (processes === undefined) return killProcessGroup(leader);
    if (isEnding || !(start instanceof Writable)) return;
    looking = endWhenGone(leader, processes);
    start.on('error', () => {}).end('\n');
  });
  report.once('close', () => held.resolve(undefined));
  return async (_leader, use) => {
    isEnding = true;
    clearInterval(looking);
    // Bubblewrap would leave a process behind that waits for it, if it ended before its report.
    const limit = setTimeout(() => report.destroy(), COMMAND_LIMITS.killGraceMs);
    const processes = await held.promise;
    clearTimeout(limit);
    await endProcessGroup(leader, use);
    await processes?.end();
  };
}

/** Another command can have stopped the program that waits for the end of this one. */
function endWhenGone(leader: number, processes: HeldProcesses): NodeJS.Timeout {
  let looks = 0;
  const look = () => {
    looks = processes.areGone() ? looks + 1 : 0;
    if (looks > 1) killProcessGroup(leader);
  };
  return setInterval(look, TERMINAL_LIMITS.gonePollMs).unref();
}

/** Calls back with the number of bubblewrap's first process, as bubblewrap sees it; not where it ends before it has one. */
function onFirst(report: Readable, take: (pid: number) => void): void {
  let said = '';
  let isTaken = false;
  report.setEncoding('utf8').on('error', () => {});
  report.on('data', (text: string) => {
    said += text;
    const [, pid] = /"child-pid":\s*(\d+)\D/.exec(said) ?? [];
    if (pid === undefined || isTaken) return;
    isTaken = true;
    take(Number(pid));
  });
}

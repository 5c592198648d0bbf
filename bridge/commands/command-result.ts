/** Reports a command: to the model as text, to people as the metadata of a terminal command. */

import { listed } from '../../machine/result-lines.ts';
import {
  type BackgroundOutcome,
  type ClosedName,
  type KnownProcess,
  type RefusedHost,
  type StopReason,
  TERMINAL_LIMITS,
} from '../../packages/sandbox/index.ts';
import { attentionSentence } from '../../shared/shown/attention.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import type { AttentionItem } from '../../shared/wire/attention.ts';
import type { TerminalCommandMetadata } from '../../shared/wire/documents.ts';
import type { ToolResult } from '../../shared/wire/tunnel.ts';

export interface CommandReport {
  readonly command: string;
  /** Relative to the workspace. */
  readonly workingDirectory: string;
  readonly permissions: readonly string[];
  readonly limits: string;
  readonly closed: readonly ClosedName[];
  /** Sentences on the folder and the variables of the conversation's session; mostly none. */
  readonly session: readonly string[];
  /** New things in the workspace that a person should know of. */
  readonly attention: readonly AttentionItem[];
  /** Whether other commands of the conversation reach its ports. */
  readonly sharesNetwork: boolean;
  /** Whether they can signal its processes. */
  readonly sharesProcesses: boolean;
  /** The hosts that it asked for and did not reach. */
  readonly refused: ReadonlyMap<string, RefusedHost>;
  readonly outcome: BackgroundOutcome;
  /** Of a command that runs on, or whose output is longer than a result shows. */
  readonly process?: KnownProcess | undefined;
}

/** The result of the call. */
export function toCommandResult(report: CommandReport): ToolResult {
  const { end } = report.outcome;
  const ending = describeEnd(end);
  const data = [
    ending.text,
    `Sandbox: ${report.limits}.`,
    ...report.session,
    ...report.attention.map((item) => attentionSentence(item)),
    ...closedSentences(report),
    ...gitSentences(report),
    ...refusedSentences(report),
    ...(FULL.test(report.outcome.output) ? [DISK_IS_FULL] : []),
    ...handleSentences(report),
    report.outcome.output === '' ? 'It printed nothing.' : `Output:\n${report.outcome.output}`,
  ].join('\n');
  const metadata = toMetadata(report, ending);
  return ending.code === undefined
    ? { status: 'success', data, metadata }
    : {
        status: 'error',
        code: ending.code,
        data,
        metadata: { ...metadata, result: { status: 'error', data: ending.text } },
      };
}

/** About the closed paths that the output complains of. */
function closedSentences({ closed, outcome: { output } }: CommandReport): string[] {
  const complaints = output.split('\n').filter((line) => REFUSED.test(line));
  const lines = complaints.slice(0, TERMINAL_LIMITS.maxComplaints);
  const met = closed.filter(({ name }) => lines.some((line) => names(line, name)));
  const of = (closure: ClosedName['closure']) =>
    met.filter((one) => one.closure === closure).map(({ name }) => nameInLine(name));
  const [secret, held] = [of('secret'), of('protected')];
  return [
    ...(secret.length > 0
      ? [
          `Closed to commands, since it may hold secrets: ${listed(secret)}. To git it is unchanged.`,
        ]
      : []),
    ...(held.length > 0
      ? [
          `Read-only for commands, since it configures git, an editor, an agent or a shell: ${listed(held)}.`,
        ]
      : []),
  ];
}

/** About a command of git that needs a permission. Git names the file that it could not write, and not the reason. */
function gitSentences({ command, limits, outcome: { output, end } }: CommandReport): string[] {
  if (!limits.includes('.git read-only')) return [];
  const isRefused = output
    .split('\n')
    .some((line) => (REFUSED.test(line) && GIT_FILE.test(line)) || GIT_GAVE_UP.test(line));
  // It prints nothing then.
  const isStash =
    end.state === 'exited' && end.exitCode !== 0 && /\bgit\b.*\bstash\b/.test(command);
  return isRefused || isStash ? [NEEDS_GIT_WRITE] : [];
}

const GIT_FILE = /\.git\b|\.lock\b|repository database|FETCH_HEAD|COMMIT_EDITMSG/;
const GIT_GAVE_UP = /^(?:error|fatal): (?:could not write index|unable to create temporary file)/;
const NEEDS_GIT_WRITE =
  'It changes .git, which needs the permission `git_write`: run it again with `permissions: ["git_write"]`.';

const FULL = /No space left on device|ENOSPC/;
const DISK_IS_FULL =
  'A disk is full: that of the workspace, that of the package caches (/var/cache/drawbridge), or /tmp with its limit.';

function refusedSentences({ refused }: CommandReport): string[] {
  return [...refused.values()].map(({ times, reason }) =>
    times === 1 ? reason : `${reason} (${times} times)`,
  );
}

function handleSentences(report: CommandReport): string[] {
  const { process, sharesNetwork, sharesProcesses } = report;
  if (process === undefined) return [];
  const { id, output, state } = process;
  if (state.state === 'running')
    return [
      `process_id: ${id}, for read_process and control_process.`,
      ...(sharesNetwork ? [SHARED_NETWORK] : []),
      sharesProcesses ? SHARED_PROCESSES : OWN_PROCESSES,
    ];
  return [
    `process_id: ${id}. read_process shows what is left out here: the output has ${output.length} characters.`,
  ];
}

const SHARED_NETWORK =
  'Your other commands without the permission `network` reach its ports at localhost; nothing outside the sandbox can.';

const SHARED_PROCESSES =
  'They can end its processes (ps, kill, pkill), but lsof and fuser do not find them. control_process ends all of them.';

const OWN_PROCESSES = 'No other command can see or end its processes; control_process does.';

const REFUSED = /denied|not permitted|read-only|busy|EACCES|EPERM|EROFS|EBUSY|cannot hash/i;

/** Whether a line has the path, or the end of it after a folder, and not as a part of another name. */
function names(line: string, path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  for (let at = line.indexOf(name); at >= 0; at = line.indexOf(name, at + 1)) {
    const isWhole = !/[\w.-]/.test(`${line[at - 1] ?? ''}${line[at + name.length] ?? ''}`);
    if (isWhole) return true;
  }
  return false;
}

export interface CommandEnding {
  readonly text: string;
  /** Absent for a command that still runs. */
  readonly exitCode?: number;
  /** Present when the command did not run to its own end. */
  readonly code?: string;
}

const NO_EXIT_CODE = -1;

/** What became of a command, in words. */
export function describeEnd(end: BackgroundOutcome['end']): CommandEnding {
  switch (end.state) {
    case 'exited':
      return { text: `Exit code: ${end.exitCode}`, exitCode: end.exitCode };
    case 'killed':
      return { text: `It was killed by ${end.signal}.`, exitCode: NO_EXIT_CODE };
    case 'running':
      return {
        text: 'It runs on in the background, until it is stopped or the bridge ends. This is its output so far.',
      };
    case 'stopped':
      return { ...STOPPED[end.reason], exitCode: NO_EXIT_CODE };
    case 'not_started':
      return {
        text: `It could not be started: ${end.message}`,
        exitCode: NO_EXIT_CODE,
        code: 'NOT_STARTED',
      };
    default:
      return end satisfies never;
  }
}

const STOPPED: Readonly<Record<StopReason, Required<Pick<CommandEnding, 'text' | 'code'>>>> = {
  timeout: {
    text: 'It was ended at its time limit: give a longer timeout, or is_background for what never ends.',
    code: 'TIMEOUT',
  },
  cancelled: { text: 'It was cancelled.', code: 'CANCELLED' },
  agent: { text: 'You stopped it.', code: 'STOPPED' },
  person: { text: 'The person stopped it.', code: 'STOPPED' },
};

function toMetadata(report: CommandReport, { exitCode }: CommandEnding): TerminalCommandMetadata {
  return {
    command: report.command,
    workingDirectory: report.workingDirectory,
    ...(exitCode !== undefined && { exitCode }),
    output: report.outcome.output,
    duration_ms: Math.round(report.outcome.durationMs),
    permissions: [...report.permissions],
    ...(report.process && { process_id: report.process.id }),
    ...(report.attention.length > 0 && { newlyProtected: [...report.attention] }),
  };
}

/** Reports a command: to the model as text, to people as the metadata of a terminal command. */
import { type AttentionItem, attentionSentence } from '../../shared/attention.ts';
import type { TerminalCommandMetadata } from '../../shared/documents.ts';
import type { ToolResult } from '../../shared/tunnel.ts';
import type { BackgroundOutcome } from '../terminal/background.ts';

export interface CommandReport {
  readonly command: string;
  /** Relative to the workspace. */
  readonly workingDirectory: string;
  readonly permissions: readonly string[];
  readonly limits: string;
  /** New things in the workspace that a person should know of. */
  readonly attention: readonly AttentionItem[];
  readonly outcome: BackgroundOutcome;
}

/** The result of the call. */
export function toCommandResult(report: CommandReport): ToolResult {
  const { end } = report.outcome;
  const ending = describeEnd(end);
  const data = [
    ending.text,
    `Sandbox: ${report.limits}.`,
    ...report.attention.map((item) => attentionSentence(item)),
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

interface Ending {
  readonly text: string;
  /** Absent for a command that still runs. */
  readonly exitCode?: number;
  /** Present when the command did not run to its own end. */
  readonly code?: string;
}

const NO_EXIT_CODE = -1;

function describeEnd(end: BackgroundOutcome['end']): Ending {
  switch (end.state) {
    case 'exited':
      return { text: `Exit code: ${end.exitCode}`, exitCode: end.exitCode };
    case 'killed':
      return { text: `It was killed by ${end.signal}.`, exitCode: NO_EXIT_CODE };
    case 'running':
      return {
        text:
          `It runs on in the background as process ${end.pid}, until the bridge ends. This is its output so far. ` +
          'In a sandbox without network, nothing outside of it can connect to it.',
      };
    case 'stopped':
      return end.reason === 'timeout'
        ? {
            text: 'It was ended at its time limit: give a longer timeout, or is_background for what never ends.',
            exitCode: NO_EXIT_CODE,
            code: 'TIMEOUT',
          }
        : { text: 'It was cancelled.', exitCode: NO_EXIT_CODE, code: 'CANCELLED' };
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

function toMetadata(report: CommandReport, { exitCode }: Ending): TerminalCommandMetadata {
  return {
    command: report.command,
    workingDirectory: report.workingDirectory,
    ...(exitCode !== undefined && { exitCode }),
    output: report.outcome.output,
    duration_ms: Math.round(report.outcome.durationMs),
    permissions: [...report.permissions],
    ...(report.attention.length > 0 && { newlyProtected: [...report.attention] }),
  };
}

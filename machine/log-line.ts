/** Lines of the logs of this machine's server and bridges: JSON, in the form of the Worker's log. */
import { inOneLine } from '../shared/plain-sight.ts';

/** The events, each with its level. docs/observability.md explains them. */
const EVENTS = {
  server_started: 'info',
  server_ended: 'info',
  server_notice: 'warn',
  bridge_connected: 'info',
  bridge_disconnected: 'warn',
  bridge_refused: 'error',
  bridge_failed: 'error',
  bridge_notice: 'info',
  tool_failed: 'error',
} as const;

export interface LogEntry {
  readonly event: keyof typeof EVENTS;
  readonly bridge?: string | undefined;
  readonly call?: string | undefined;
  readonly trace?: string | undefined;
  readonly tool?: string | undefined;
  readonly code?: string | undefined;
  readonly url?: string | undefined;
  /** The class of an error, and the frames of its stack. Its message can hold what people or models say. */
  readonly error?: string | undefined;
  readonly at?: readonly string[] | undefined;
  /** A sentence of the program. It can have names of this machine. */
  readonly message?: string | undefined;
}

const LOG_LINE_LIMITS = {
  /** Characters of one value: the sentence that quotes a path, or one frame of a stack. */
  maxValueChars: 500,
} as const;

/** One line, with its end. */
export function formatLogLine({ event, ...fields }: LogEntry, now: Date): string {
  const told = { time: now.toISOString(), level: EVENTS[event], event, ...fields };
  const cut = (_: string, value: unknown) =>
    typeof value === 'string'
      ? inOneLine(value).slice(0, LOG_LINE_LIMITS.maxValueChars).toWellFormed()
      : value;
  return `${JSON.stringify(told, cut)}\n`;
}

/** Lines of the logs of this machine's server and bridges: JSON, in the form of the Worker's log. */
import { inOneLine } from '../shared/text/plain-sight.ts';

/** The events, each with its level. docs/observability.md explains them. */
const EVENTS = {
  ready: 'info',
  port_open: 'warn',
  key_readable: 'warn',
  server_started: 'info',
  server_ended: 'info',
  worker_restarted: 'error',
  worker_failed: 'error',
  bridge_host_restarted: 'error',
  bridge_host_output: 'warn',
  bridge_lost: 'warn',
  bridge_returned: 'info',
  bridge_restarted: 'warn',
  bridge_given_up: 'error',
  project_missing: 'warn',
  projects_unreadable: 'error',
  projects_unwritable: 'error',
  state_unwritable: 'error',
  state_writable: 'info',
  disk_full: 'error',
  token_ending: 'warn',
  wake_failed: 'warn',
  sweep_failed: 'warn',

  bridge_connected: 'info',
  bridge_disconnected: 'warn',
  bridge_refused: 'error',
  bridge_failed: 'error',
  call_ended: 'info',
  tool_failed: 'error',
  rules_unreadable: 'error',
  hooks_unreadable: 'error',
  grants_unreadable: 'error',
  audit_unwritable: 'error',
  device_enrolled: 'info',
  enrolment_failed: 'error',
  rule_without_effect: 'warn',
  workspace_unread: 'warn',
  rule_misread: 'warn',
  journal_rewritten: 'warn',
  journal_unwritable: 'error',
  journal_writable: 'info',
  attention_needed: 'warn',
  quarantine_failed: 'error',
  checkpoints_failed: 'warn',
  worktree_left: 'warn',
  editor_connected: 'info',
  editor_lost: 'info',
  editor_misread: 'warn',
  editor_diff_refused: 'warn',
  companion_started: 'info',
  companion_ended: 'info',
  companion_failed: 'warn',
  guest_connected: 'info',
  guest_left: 'info',
  guest_unasked: 'warn',
  mcp_server_ready: 'info',
  mcp_server_down: 'warn',
  mcp_list_refused: 'warn',
  offer_refused: 'warn',
  process_port_opened: 'info',
  process_port_closed: 'info',
  process_port_failed: 'warn',
  index_ready: 'info',
  index_failed: 'warn',
  vectors_ready: 'info',
  vectors_failed: 'warn',
} as const;

export type LogEvent = keyof typeof EVENTS;

/** The names of all events. */
export const LOG_EVENTS = Object.keys(EVENTS);

/** What a line is about. */
export interface LogIds {
  readonly bridge?: string | undefined;
  readonly conversation?: string | undefined;
  /** The id of the response. */
  readonly run?: string | undefined;
  readonly call?: string | undefined;
  readonly trace?: string | undefined;
}

export interface LogEntry extends LogIds {
  readonly event: LogEvent;
  readonly tool?: string | undefined;
  /** The name of an MCP server. */
  readonly server?: string | undefined;
  readonly status?: string | undefined;
  readonly code?: string | undefined;
  readonly durationMs?: number | undefined;
  readonly url?: string | undefined;
  readonly publicUrl?: string | undefined;
  readonly model?: string | undefined;
  /** The class of an error, and the frames of its stack. Its message can hold what people or models say. */
  readonly error?: string | undefined;
  readonly at?: readonly string[] | undefined;
  /** A sentence of the program. It can have names of this machine. */
  readonly message?: string | undefined;
}

/** Shows the person at the terminal one line, which is the message of `event` too. */
export type TellNotice = (line: string, event: LogEvent) => void;

const LOG_LINE_LIMITS = {
  /** Characters of one value: the sentence that quotes a path, or one frame of a stack. */
  maxValueChars: 500,
} as const;

/** One line, with its end. */
export function formatLogLine({ event, ...fields }: LogEntry, now: Date): string {
  const line = { time: now.toISOString(), level: EVENTS[event], event, ...fields };
  const cut = (_: string, value: unknown) =>
    typeof value === 'string'
      ? inOneLine(value).slice(0, LOG_LINE_LIMITS.maxValueChars).toWellFormed()
      : value;
  return `${JSON.stringify(line, cut)}\n`;
}

/** The Worker's log: one line of JSON for each event, with ids and codes, never with content or secrets. */
import { DrawbridgeError } from '../../shared/errors.ts';
import { LOG_LIMITS } from './limits.ts';

/** The events, each with its level. docs/observability.md explains them. */
const EVENTS = {
  run_started: 'info',
  run_ended: 'info',
  turn_ended: 'info',
  call_ended: 'info',
  bridge_connected: 'info',
  bridge_disconnected: 'info',
  push_sent: 'info',
  left_behind: 'warn',
  rate_limited: 'warn',
  origin_refused: 'warn',
  bridge_refused: 'warn',
  upstream_unreachable: 'warn',
  run_unwoken: 'warn',
  subagent_unreachable: 'warn',
  title_failed: 'warn',
  push_failed: 'warn',
  completion_lost: 'error',
  deadline_missed: 'error',
  delete_failed: 'error',
  follow_failed: 'error',
  request_failed: 'error',
  run_failed: 'error',
  run_unended: 'error',
  storage_damaged: 'error',
} as const;

export type WorkerEvent = keyof typeof EVENTS;

type TextFields =
  | ('trace' | 'account' | 'conversation' | 'run' | 'call' | 'bridge')
  | ('object' | 'operation' | 'service' | 'model' | 'tool' | 'code' | 'deadline' | 'message');
type NumberFields = 'durationMs' | 'firstMs' | 'inputTokens' | 'outputTokens' | 'turns' | 'calls';

/** The fields of a line. `run`: the response's id. `message`: no content. `error`: any, see {@link describeError}. */
export type LogFields = { readonly [name in TextFields]?: string | null | undefined } & {
  readonly [name in NumberFields]?: number | undefined;
} & { readonly status?: string | number | undefined; readonly error?: unknown };

/** Writes a line. Workers Logs makes fields of its JSON; workerd writes it to its standard output. */
export function logEvent(event: WorkerEvent, { error, ...fields }: LogFields = {}): void {
  const level = EVENTS[event];
  const line = {
    time: new Date().toISOString(),
    level,
    event,
    ...fields,
    ...(error !== undefined && describeError(error)),
  };
  console[level](
    JSON.stringify(line, (_, value) => (typeof value === 'string' ? cut(value) : value)),
  );
}

/** The name, code, message and place of an error, without whatever can hold content, addresses or secrets. */
export function describeError(thrown: unknown): {
  error: string;
  code?: string;
  message?: string;
  at?: string[];
} {
  if (!(thrown instanceof Error)) return { error: typeof thrown };
  const { name, message, stack = '' } = thrown;
  const isPlain = PLAIN.has(name) && message !== '';
  const at = [...stack.matchAll(/^ +at (.*)$/gm)].map(([, frame = '']) => cut(frame));
  return {
    error: cut(name),
    ...(thrown instanceof DrawbridgeError && { code: thrown.code }),
    ...(isPlain && { message: withoutContent(message) }),
    ...(at.length > 0 && { at: at.slice(0, LOG_LIMITS.maxFrames) }),
  };
}

/** The classes of errors whose messages the runtime and this code write. */
const PLAIN: ReadonlySet<string> = new Set(['Error', 'TypeError', 'RangeError', 'TimeoutError']);

/** From the first quote to the last one: what is quoted may hold quotes itself. */
function withoutContent(message: string): string {
  return message.replace(/["'`“‘].*["'`”’]/s, '…').replaceAll(/\b\w+:\/\/\S+/g, '…');
}

function cut(text: string): string {
  const { maxFieldChars } = LOG_LIMITS;
  return text.length <= maxFieldChars ? text : `${text.slice(0, maxFieldChars)}…`.toWellFormed();
}

/**
 * The table of formats in which people have hooks already: where their files lie, what they say, what a hook reads of a
 * call, and what it answers. All become one shape. Pure.
 */
import * as z from 'zod';
import { parseIfJson } from '../../shared/text/json.ts';
import { inOneLine, shorten } from '../../shared/text/plain-sight.ts';
import { SECOND } from '../../shared/units.ts';
import { HOOK_LIMITS } from './limits.ts';
import {
  claudeCall,
  codexCall,
  cursorCall,
  type HookedCall,
  type ShownCall,
} from './shown-call.ts';

export type FormatName = 'claude' | 'codex' | 'cursor';

/** A program that judges calls before they run. */
export interface Hook {
  readonly format: FormatName;
  /** The file that has it, as people are shown it. */
  readonly source: string;
  readonly event: string;
  /** Absent: all calls. */
  readonly matcher?: string;
  /** A line of a shell. */
  readonly command: string;
  readonly timeoutMs: number;
  /** Whether a hook that fails forbids the call, and does not only ask about it. */
  readonly failsClosed?: true;
}

/** A hook that Drawbridge does not run, and why. */
export interface IdleHook {
  readonly source: string;
  readonly event: string;
  readonly reason: string;
}

export interface HookFile {
  readonly hooks: readonly Hook[];
  readonly idle: readonly IdleHook[];
}

/** What a hook says of a call. A yes says nothing: rules and people allow. */
export type HookAnswer =
  | { readonly decision: 'none' }
  | { readonly decision: 'ask' | 'deny'; readonly reason: string };

export interface Format {
  /** Relative to the workspace, and to the home folder of the owner. */
  readonly files: readonly string[];
  readonly owners: readonly string[];
  /** Throws a ZodError for a file in another form. */
  readonly read: (source: string, text: string) => HookFile;
  /** What a hook of this event reads of the call; undefined for a call that its program does not make. */
  readonly show: (event: string, call: HookedCall) => ShownCall | undefined;
  /** What the hook's exit with 0 and this output means. */
  readonly answer: (output: string) => HookAnswer;
}

export const FORMATS: Readonly<Record<FormatName, Format>> = {
  claude: {
    files: ['.claude/settings.json', '.claude/settings.local.json'],
    owners: ['.claude/settings.json'],
    read: (source, text) => readGroups('claude', source, text),
    show: (_, call) => claudeCall(call),
    answer: answerOfClaude,
  },
  codex: {
    files: ['.codex/hooks.json', '.codex/config.toml'],
    owners: ['.codex/hooks.json', '.codex/config.toml'],
    read: (source, text) =>
      source.endsWith('.toml') ? readToml(source, text) : readGroups('codex', source, text),
    show: (_, call) => codexCall(call),
    answer: answerOfClaude,
  },
  cursor: {
    files: ['.cursor/hooks.json'],
    owners: ['.cursor/hooks.json'],
    read: readCursor,
    show: cursorCall,
    answer: answerOfCursor,
  },
};

const Seconds = z.number().positive().optional();
const Command = z.string().trim().min(1).max(HOOK_LIMITS.maxCommandChars);
const Matcher = z.string().max(HOOK_LIMITS.maxMatcherChars).nullish();

const Group = z.object({
  matcher: Matcher,
  hooks: z.array(
    z.object({
      type: z.string().default('command'),
      command: z.unknown().optional(),
      args: z.unknown().optional(),
      if: z.unknown().optional(),
      async: z.boolean().optional(),
      timeout: Seconds,
    }),
  ),
});

const Groups = z.object({
  disableAllHooks: z.boolean().optional(),
  hooks: z.record(z.string(), z.array(Group)).optional(),
});

/** Groups of handlers with a matcher, by event: Claude Code and Codex. */
function readGroups(format: FormatName, source: string, text: string): HookFile {
  const { hooks = {}, disableAllHooks } = Groups.parse(parseIfJson(text));
  if (disableAllHooks) return { hooks: [], idle: [] };
  const found: Hook[] = [];
  const idle: IdleHook[] = [];
  for (const [event, groups] of Object.entries(hooks)) {
    for (const { matcher, hooks: handlers } of groups) {
      for (const handler of handlers) {
        const reason = whyIdle(event, handler);
        const command = Command.safeParse(handler.command).data;
        if (reason !== undefined) idle.push({ source, event, reason });
        else if (command === undefined) idle.push({ source, event, reason: NO_COMMAND });
        else found.push({ format, source, event, ...named(matcher), command, ...timed(handler) });
      }
    }
  }
  return { hooks: found, idle };
}

/** Its hooks are only noticed: reading TOML would take a parser of its own. */
function readToml(source: string, text: string): HookFile {
  if (!/^[ \t]*\[\[?hooks\b/m.test(text)) return { hooks: [], idle: [] };
  const reason = 'hooks of config.toml are not read: write them into hooks.json beside it';
  return { hooks: [], idle: [{ source, event: 'hooks', reason }] };
}

const NO_COMMAND = 'its command is none, or too long';

function whyIdle(event: string, handler: z.infer<typeof Group>['hooks'][number]) {
  if (event !== 'PreToolUse') return 'only hooks before a call (PreToolUse) run';
  if (handler.type !== 'command') return `its type ${inOneLine(handler.type)} is not run`;
  if (handler.async) return 'it runs in the background, so it decides nothing';
  if (handler.args !== undefined) return 'it has "args": write one command line';
  // Without its condition it would judge more calls, which only tightens.
  return undefined;
}

const CursorHooks = z.object({
  version: z.literal(1).optional(),
  hooks: z.record(
    z.string(),
    z.array(
      z.object({
        type: z.string().default('command'),
        command: z.unknown().optional(),
        matcher: z.union([z.string().max(HOOK_LIMITS.maxMatcherChars), z.unknown()]).optional(),
        timeout: Seconds,
        failClosed: z.boolean().optional(),
      }),
    ),
  ),
});

const CURSOR_EVENTS: ReadonlySet<string> = new Set([
  'preToolUse',
  'beforeShellExecution',
  'beforeMCPExecution',
  'beforeReadFile',
]);

function readCursor(source: string, text: string): HookFile {
  const { hooks } = CursorHooks.parse(parseIfJson(text));
  const found: Hook[] = [];
  const idle: IdleHook[] = [];
  for (const [event, handlers] of Object.entries(hooks)) {
    for (const { type, command: line, matcher, failClosed, ...handler } of handlers) {
      const command = Command.safeParse(line).data;
      const reason = CURSOR_EVENTS.has(event) ? NO_COMMAND : 'only hooks before a call run';
      if (!CURSOR_EVENTS.has(event) || type !== 'command' || command === undefined) {
        idle.push({ source, event, reason });
        continue;
      }
      const known = { format: 'cursor', source, event, command } as const;
      const strict = failClosed ? { failsClosed: true as const } : {};
      found.push({ ...known, ...named(matcher), ...timed(handler), ...strict });
    }
  }
  return { hooks: found, idle };
}

function named(matcher: unknown): Pick<Hook, 'matcher'> {
  return typeof matcher === 'string' && !['', '*'].includes(matcher) ? { matcher } : {};
}

function timed({ timeout }: { timeout?: number | undefined }): Pick<Hook, 'timeoutMs'> {
  const wanted = timeout === undefined ? HOOK_LIMITS.defaultMs : timeout * SECOND;
  return { timeoutMs: Math.min(wanted, HOOK_LIMITS.maxMs) };
}

const ClaudeAnswer = z.object({
  continue: z.boolean().optional(),
  stopReason: z.string().optional(),
  decision: z.string().optional(),
  reason: z.string().optional(),
  hookSpecificOutput: z
    .object({
      permissionDecision: z.string().nullish(),
      permissionDecisionReason: z.string().nullish(),
      updatedInput: z.unknown().optional(),
    })
    .nullish(),
});

/** Text that is no JSON is for people. */
function answerOfClaude(output: string): HookAnswer {
  if (!output.trimStart().startsWith('{')) return NOTHING;
  const { data } = ClaudeAnswer.safeParse(parseIfJson(output));
  if (!data) return ask('its answer is not in the form of its format');
  const {
    permissionDecision: said,
    permissionDecisionReason,
    updatedInput,
  } = data.hookSpecificOutput ?? {};
  const reason = permissionDecisionReason ?? data.reason ?? '';
  if (said === 'deny' || data.decision === 'block') return deny(reason);
  if (data.continue === false) return deny(data.stopReason ?? reason);
  if (said === 'ask' || said === 'defer') return ask(reason);
  return updatedInput == null ? NOTHING : ask(REWRITES);
}

const CursorAnswer = z.object({
  permission: z.string().optional(),
  decision: z.string().optional(),
  continue: z.boolean().optional(),
  user_message: z.string().optional(),
  userMessage: z.string().optional(),
  agent_message: z.string().optional(),
  agentMessage: z.string().optional(),
  reason: z.string().optional(),
  updated_input: z.unknown().optional(),
});

/** Cursor wants JSON of each hook, and takes other text for a no. */
function answerOfCursor(output: string): HookAnswer {
  if (output.trim() === '') return NOTHING;
  const { data } = CursorAnswer.safeParse(parseIfJson(output));
  if (!data) return deny('its answer is no JSON in the form of its format');
  const { permission = data.decision } = data;
  const reason =
    data.agent_message ??
    data.agentMessage ??
    data.user_message ??
    data.userMessage ??
    data.reason ??
    '';
  if (permission === 'deny' || permission === 'block' || data.continue === false) {
    return deny(reason);
  }
  if (permission === 'ask') return ask(reason);
  return data.updated_input == null ? NOTHING : ask(REWRITES);
}

const REWRITES = 'it wants another input, and calls run as the model made them';
const NOTHING: HookAnswer = { decision: 'none' };

function ask(reason: string): HookAnswer {
  return { decision: 'ask', reason: said(reason) };
}

function deny(reason: string): HookAnswer {
  return { decision: 'deny', reason: said(reason) };
}

function said(reason: string): string {
  const lines = reason.split('\n').map((line) => line.trim());
  const line = inOneLine(lines.filter((each) => each !== '').join(' '));
  return shorten(line, HOOK_LIMITS.maxReasonChars) || 'it gives no reason';
}

/** What the exit of a hook means where it is not 0. Two is a no; any other failure must not let a call through. */
export function answerOfExit(code: number | null, words: string, hook: Hook): HookAnswer {
  if (code === 2) return deny(words);
  return answerOfFailure(`it ended with ${code === null ? 'a signal' : `exit code ${code}`}`, hook);
}

export function answerOfFailure(reason: string, { failsClosed }: Hook): HookAnswer {
  return failsClosed ? deny(reason) : ask(reason);
}

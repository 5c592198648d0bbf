/** What a look at the workspace finds for one message, beside what it finds for all of them. */
import * as z from 'zod';
import { ConversationId } from '../ids.ts';
import { FINDING_LIMITS, MENTION_LIMITS, REQUEST_LIMITS } from '../limits.ts';
import { CalledMention, PlaceMention } from '../text/mentions.ts';
import { Mode } from './modes.ts';

const Path = z.string().max(REQUEST_LIMITS.maxPathChars);

/** What the edge asks about the message that a run answers. */
export const MessageLook = z.object({
  conversationId: ConversationId,
  mentions: z.array(PlaceMention).max(MENTION_LIMITS.maxMentions),
  /** Absent where the message calls none. A bridge of before ignores it. */
  called: z.optional(CalledMention),
  /** As in a call (tunnel.ts): set where the run works in a worktree. */
  worktree: z.union([z.literal(true), ConversationId]).optional(),
  /** The files that the request's editor shows without their content, the cursor's first. Absent without an editor. */
  shown: z
    .array(z.object({ path: Path, line: z.int().positive().optional() }))
    .max(FINDING_LIMITS.maxShownFiles)
    .optional(),
  /** The folder that the request's client has open. */
  workspacePath: z.optional(Path),
  /** The person's words, to find code that they are about, and the run's mode: the machine's owner chooses the modes. */
  search: z
    .object({
      query: z.string().max(FINDING_LIMITS.maxQueryChars),
      mode: Mode,
      /** Set in a private conversation: only a private server gets the words. */
      isPrivate: z.literal(true).optional(),
    })
    .optional(),
  /** The message steers the current run: only its mentions count. */
  isSteer: z.literal(true).optional(),
});
export type MessageLook = z.infer<typeof MessageLook>;

/** What a mention leads to. `none`: nothing is attached, and `text` is one sentence that says why. */
export const Attachment = z.object({
  type: z.enum(['file', 'folder', 'url', 'skill', 'command', 'none']),
  /** The path relative to the workspace, the address, or the skill's name; of `none`, as the message has it. */
  name: z.string().max(MENTION_LIMITS.maxUrlChars),
  text: z.string().max(FINDING_LIMITS.maxAttachedChars),
});
export type Attachment = z.infer<typeof Attachment>;

const NamedText = z.object({ path: Path, text: z.string().max(FINDING_LIMITS.maxFileChars) });

/** What an editor on the machine finds wrong in files of the workspace, errors before warnings. */
export const Diagnostics = z.object({
  items: z
    .array(
      z.object({
        path: Path,
        /** Both count from 1. */
        line: z.int().positive(),
        column: z.int().positive(),
        severity: z.enum(['error', 'warning']),
        message: z.string().max(FINDING_LIMITS.maxDiagnosticChars),
        /** The linter and its rule. */
        source: z.string().max(REQUEST_LIMITS.maxNameChars).optional(),
      }),
    )
    .max(FINDING_LIMITS.maxDiagnostics),
  /** How many more there are. */
  leftOut: z.int().nonnegative(),
});
export type Diagnostics = z.infer<typeof Diagnostics>;

/** All of it is untrusted text: the prompt escapes it and labels it as data. */
export const Findings = z.object({
  /** In the order of the message. */
  attachments: z.array(Attachment).max(MENTION_LIMITS.maxMentions),
  /** The content of files that the person looks at, the active one first. */
  openFiles: z.array(NamedText).max(FINDING_LIMITS.maxShownFiles),
  /** Files that are no longer as the conversation saw them, each with the difference. */
  changed: z.array(NamedText).max(FINDING_LIMITS.maxChangedFiles),
  /** Other files that changed since the conversation last worked here. */
  touched: z.array(Path).max(FINDING_LIMITS.maxTouchedFiles),
  /** How many more files of both kinds there are. Absent where there are none. */
  unnamed: z.int().positive().optional(),
  /** Code that the message is about, as far as an index shows it, the best first; each with its path and lines. */
  passages: z
    .array(z.string().max(FINDING_LIMITS.maxPassageChars))
    .max(FINDING_LIMITS.maxPassages)
    .optional(),
  /** Absent without an editor that reports any, and for a run in a worktree. */
  diagnostics: Diagnostics.optional(),
  /** Whether the client's folder is the workspace, by whatever path, or lies in it. Absent for any other folder. */
  client: z.enum(['same', 'inside']).optional(),
  /** Where in the workspace the client's folder is, for one that lies in it. Bridges before 0.2.0 do not tell. */
  clientFolder: z.optional(Path),
  /** What the run's worktree looks like. Absent for another run, and while the worktree is not made. */
  worktree: z
    .object({
      projectLayout: z.string().max(REQUEST_LIMITS.maxContextChars),
      gitStatus: z.string().max(REQUEST_LIMITS.maxContextChars).optional(),
    })
    .optional(),
});
export type Findings = z.infer<typeof Findings>;

export const NOTHING_FOUND: Findings = { attachments: [], openFiles: [], changed: [], touched: [] };

/** Stands for findings that did not come: the words of the message look as if something were attached. */
export function missedFindings({ mentions }: MessageLook): Findings | undefined {
  const attachments = mentions.flatMap((mention): Attachment[] => {
    if (mention.type === 'url') return [{ type: 'none', name: mention.url, text: MISSED }];
    return mention.isCertain ? [{ type: 'none', name: mention.path, text: MISSED }] : [];
  });
  if (attachments.length === 0) return undefined;
  return { ...NOTHING_FOUND, attachments };
}

const MISSED = 'It could not be attached in time, or for its size. Read it with a tool.';

/** The contract of a tool on this machine: it proposes what a call would do, and carries out its proposal. */
import * as z from 'zod';
import { ToolFailure } from '../../machine/failure.ts';
import {
  meantArguments,
  subjectsOf,
  type ToolDefinition,
  type ToolFacts,
  takesPath,
} from '../../shared/tools/definition.ts';
import type { Proposal } from '../../shared/wire/approvals.ts';
import type { Metadata } from '../../shared/wire/documents.ts';
import type { FormField } from '../../shared/wire/elicitation.ts';
import type { ToolResult } from '../../shared/wire/tunnel.ts';
import type { KeepChange, ResolvedPath, Workspace } from '../workspace/index.ts';
import type { ReadLedger } from './ledger.ts';

/** At least one: a call without a path belongs to the whole workspace. */
export type ResolvedPaths<Found extends ResolvedPath = ResolvedPath> = readonly [Found, ...Found[]];

/** The surroundings of one call. */
export interface ToolContext {
  /** The part of the workspace that this call may reach. */
  readonly workspace: Workspace;
  /** The real places of the call's paths, in their order. Places to write for tools that write. */
  readonly places: ResolvedPaths;
  readonly ledger: ReadLedger;
  /** Keeps what the call changes, so that it can be undone. */
  readonly keep?: KeepChange | undefined;
  /** Whether this content of a file can be kept; null for one that was not read. */
  readonly canKeep?: ((bytes: Uint8Array | null) => boolean) | undefined;
  /** Aborted when the call is cancelled. */
  readonly signal: AbortSignal;
  readonly callId: string;
  readonly conversationId: string;
  readonly isPrivate?: true | undefined;
  /** The account whose call it is, unless it is the owner's. */
  readonly grantee?: string | undefined;
  /** Whether a person sees the proposal before it is carried out. */
  readonly isReviewed: boolean;
  /** Takes live output as it comes. The result has the whole output, bounded. */
  readonly onOutput: (text: string) => void;
  /** Whether a second run does no harm: the tool's own claim, where the owner believes it. */
  readonly mayRepeat: boolean;
  /**
   * Asks the person something for the tool's server, in the middle of its work. Resolves with `expired` where no one can
   * be asked. The signal withdraws the question.
   */
  readonly elicit: (asked: ServerQuestion, signal: AbortSignal) => Promise<PersonsAnswer>;
}

/** What a server asks. */
export interface ServerQuestion {
  readonly message: string;
  readonly fields: readonly FormField[];
}

/** `content` is the JSON text of the values, which fit the fields. */
export interface PersonsAnswer {
  readonly decision: 'once' | 'reject' | 'expired' | 'superseded';
  readonly content?: string;
}

/** A change to one file: the SHA-256 of its bytes before and after, null where there is no file. */
export interface FileChange {
  readonly beforeHash: string | null;
  readonly afterHash: string | null;
  /** The call's result once the file has its new bytes. */
  readonly result: ToolResult;
}

/** A file as an edit would leave it. */
export interface EditedFile {
  /** Absolute. */
  readonly path: string;
  /** The whole file without its byte order mark. */
  readonly newText: string;
  /**
   * Replaces the new file by a person's, whole and without a byte order mark. Throws a {@link ToolFailure} for content
   * that cannot be written.
   */
  readonly amend: (content: string) => Promise<Proposed>;
}

/** A description of what a call would do, and the function that does it. */
export interface Proposed {
  readonly proposal: Proposal;
  /** For a change to one file. Other effects of a call cannot be checked afterwards. */
  readonly change?: FileChange;
  /** For a change to a text file that a person sees, and may change further. */
  readonly edited?: EditedFile | undefined;
  /** Why a person is asked, even where the rules allow the call. */
  readonly asks?: string | undefined;
  /** Whether no other call may change files of the workspace meanwhile. */
  readonly isAlone?: true;
  /**
   * Does exactly what was proposed. Throws a {@link ToolFailure} for expected failures, any other error only for a bug,
   * and the signal's reason when the call was cancelled.
   */
  readonly apply: (context: ToolContext) => Promise<ToolResult>;
}

/** A call's arguments, parsed once. Later code does not use the raw ones. */
export interface ReadCall {
  /** Under the tool's own names, without unknown fields. */
  readonly args: Metadata;
  /** The paths or the command line that rules match. */
  readonly subjects: readonly string[];
  /** The paths to resolve before the proposal; never empty. */
  readonly paths: readonly string[];
  /** Works out what the call would do, and changes nothing. Throws as `apply` does. */
  readonly propose: (context: ToolContext) => Promise<Proposed>;
}

/** The facts about a tool on this machine. For an offered tool they hold without any trust in its server. */
export interface ToolFactsHere extends ToolFacts {
  /** For offered tools only: the server's own claims, and the digest of its definition. */
  readonly claims?: Pick<ToolFacts, 'effect' | 'idempotent'> & { readonly digest: string };
  /** Why a person is asked about each call, even where the rules allow it. */
  readonly asks?: string;
  /** Protected paths that the tool may write, because a person sees and allows each change. Only with `asks`. */
  readonly opens?: RegExp;
}

/** A tool's schema and work bound together, so that callers do not need their types. */
export interface BridgeTool {
  readonly definition: ToolFactsHere;
  /** Throws a {@link ToolFailure} (`INVALID_ARGUMENTS`). */
  readonly read: (args: unknown, conversationId: string) => ReadCall;
}

/** Carries out one call with parsed arguments. Throws as {@link Proposed.apply} does. */
export type ToolExecutor<Args> = (args: Args, context: ToolContext) => Promise<ToolResult>;

/** A tool's arguments after its schema has parsed them. */
export type ArgumentsOf<Tool extends ToolDefinition> = z.output<Tool['arguments']>;

/** The work of a tool. */
export interface ToolWork<Args> {
  readonly propose: (args: Args, context: ToolContext) => Promise<Proposed>;
}

/** Binds a tool's definition to its work here. */
export function bindTool<Definition extends ToolDefinition>(
  definition: Definition,
  { propose }: ToolWork<ArgumentsOf<Definition>>,
): BridgeTool {
  return {
    definition,
    read: (given) => {
      const args = parseArguments(definition, given);
      const subjects = subjectsOf(definition, args);
      const paths = takesPath(definition) ? subjects : ['.'];
      return { args, subjects, paths, propose: (context) => propose(args, context) };
    },
  };
}

/** A tool whose proposal is only its name and arguments. */
export function doing<Definition extends ToolDefinition>(
  definition: Definition,
  execute: ToolExecutor<ArgumentsOf<Definition>>,
): BridgeTool {
  return bindTool(definition, {
    propose: async (args) => ({
      proposal: { kind: 'call', tool: definition.name, arguments: args },
      apply: (context) => execute(args, context),
    }),
  });
}

/** Why a person is asked before this content of a file goes; undefined where an undo can bring it back. */
export function whyAsked(
  content: Uint8Array | null,
  { canKeep }: Pick<ToolContext, 'canKeep'>,
): string | undefined {
  return canKeep === undefined || canKeep(content) ? undefined : NO_UNDO;
}

const NO_UNDO =
  'This could not be undone: what the file has now is too large to be kept, or the disk is full.';

/** Returns the place of a tool that writes. Throws for a place to read. */
export function toWrite(place: ResolvedPath): ResolvedPath<'write'> {
  if (place.access === 'write') return place as ResolvedPath<'write'>;
  throw new Error('A tool that writes was given a place to read.');
}

/** The result for a failure. */
export function toErrorResult({ code, message, metadata }: ToolFailure): ToolResult {
  return { status: 'error', code, data: message, ...(metadata && { metadata }) };
}

/**
 * The edge has parsed the arguments too, but the machine's owner need not trust the edge. Reads what is meant as well:
 * the tool must run with the same arguments that the policy has judged.
 */
export function parseArguments<Definition extends ToolDefinition>(
  definition: Definition,
  args: unknown,
): ArgumentsOf<Definition> {
  const named = z.record(z.string(), z.unknown()).safeParse(args);
  const parsed = definition.arguments.safeParse(
    named.success ? meantArguments(definition, named.data) : args,
  );
  if (parsed.success) return parsed.data as ArgumentsOf<Definition>;
  const issues = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  const message = `The arguments of ${definition.name} are not valid: ${issues.join('; ')}.`;
  throw new ToolFailure('INVALID_ARGUMENTS', message);
}

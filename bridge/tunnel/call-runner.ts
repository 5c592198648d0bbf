/** Carries one call out: policy, person, journal, tool, in this order. */
import type { Metadata } from '../../shared/documents.ts';
import { RUN_LIMITS } from '../../shared/limits.ts';
import { subjectsOf } from '../../shared/tools/definition.ts';
import type { CallLimits, ToolCall, ToolResult } from '../../shared/tunnel.ts';
import type { Asking } from '../admission/asking.ts';
import { Lanes } from '../admission/lanes.ts';
import { type ApprovalSubject, isAskable, proposeCall } from '../admission/proposal.ts';
import type { Verdict } from '../admission/verdict.ts';
import type { Visibility } from '../admission/visibility.ts';
import { ToolFailure } from '../failure.ts';
import type { BridgeTool } from '../tools/catalogue.ts';
import { toErrorResult } from '../tools/executor.ts';
import { ReadLedger } from '../tools/ledger.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { Journal } from './journal.ts';
import { JournalUnwritable } from './journal-file.ts';
import { refuse } from './results.ts';

/** What the policy says about a call. */
export interface Judgement extends Verdict {
  /** What it may show; all of the workspace where this is undefined. */
  readonly visibility?: Visibility | undefined;
}

export interface Machine {
  readonly workspace: Workspace;
  readonly tools: ReadonlyMap<string, BridgeTool>;
  /** The owner's policy; asked anew for each call, so that a changed file counts at once. */
  readonly decide: (call: ToolCall, tool: BridgeTool) => Promise<Judgement>;
  readonly asking: Asking;
  readonly journal: Journal;
  /** A call has ended that may have changed the workspace. */
  readonly onChanged: () => void;
}

interface Running {
  readonly signal: AbortSignal;
  readonly onOutput: (delta: string) => void;
}

/** Knows what each conversation has read, and which calls wait for each other. */
export class CallRunner {
  readonly #machine: Machine;
  readonly #ledger = new ReadLedger();
  readonly #lanes = new Lanes();

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /**
   * Whatever can be expected is a result. Rejects for a bug, and when the signal aborts; then the journal says whether
   * the tool was started.
   */
  async run(call: ToolCall, running: Running): Promise<ToolResult> {
    const tool = this.#machine.tools.get(call.tool);
    if (!tool) {
      return refuse('UNKNOWN_TOOL', `This bridge has no tool named ${JSON.stringify(call.tool)}.`);
    }
    try {
      const { result } = await this.#lanes.run([ADMISSION], () => this.#admit(call, tool, running));
      return await result;
    } catch (error) {
      if (error instanceof JournalUnwritable) return unwritable(error);
      throw error;
    }
  }

  /**
   * Puts the call in its lanes, unless it is refused or a person has to be asked first. Calls come here one after the
   * other: otherwise the disk would decide in which order two writes to one path get into its lane. The result is in
   * an object because the next call must not wait for it.
   */
  async #admit(
    call: ToolCall,
    tool: BridgeTool,
    running: Running,
  ): Promise<{ result: ToolResult | Promise<ToolResult> }> {
    const { decide, workspace } = this.#machine;
    const { decision, reason, visibility } = await decide(call, tool);
    if (decision === 'deny') {
      return { result: refuse('DENIED', `Not allowed on this machine: ${reason}`) };
    }
    const unreachable = await findUnreachable(call, tool, workspace);
    if (unreachable) return { result: unreachable };
    const lanes = await tool.serialKeys(call.arguments, workspace);
    const execute = (args: Metadata) =>
      this.#lanes.run(lanes, () =>
        this.#execute({ ...call, arguments: args }, tool, running, visibility),
      );
    if (decision === 'allow') return { result: execute(call.arguments) };
    const subject = proposeCall(call, tool.definition);
    if (!isAskable(subject.proposal)) return { result: TOO_LARGE };
    const refusal = this.#ask(subject, reason, running.signal);
    // What runs is what was shown: nothing of the call that the proposal leaves out.
    const { arguments: args } = subject.proposal;
    return { result: refusal.then((refused) => refused ?? execute(args)) };
  }

  /** Null when the person lets the call run. */
  async #ask(
    subject: ApprovalSubject,
    reason: string,
    signal: AbortSignal,
  ): Promise<ToolResult | null> {
    const { decision, message } = await this.#machine.asking.ask(subject, reason, signal);
    signal.throwIfAborted();
    switch (decision) {
      case 'once':
        return null;
      case 'expired':
        return refuse('NOT_APPROVED', 'Nobody answered in time.');
      case 'reject': {
        const said = message === undefined ? '' : ` They said: ${message}`;
        return refuse('REJECTED', `The person rejected this call.${said}`);
      }
    }
  }

  async #execute(
    call: ToolCall,
    tool: BridgeTool,
    { signal, onOutput }: Running,
    visibility: Visibility | undefined,
  ): Promise<ToolResult> {
    const { workspace, journal } = this.#machine;
    const { callId, conversationId, limits } = call;
    const { effect, idempotent } = tool.definition;
    signal.throwIfAborted();
    journal.start({ callId, tool: call.tool, effect, idempotent });
    const ledger = this.#ledger;
    const shown = visibility ? workspace.showing(visibility.mayShow) : workspace;
    const result = await tool.execute(call.arguments, {
      workspace: withinLimits(shown, limits),
      ledger,
      signal,
      conversationId,
      onOutput,
    });
    return withNote(result, visibility?.note);
  }
}

function withNote(result: ToolResult, note: string | undefined): ToolResult {
  if (note === undefined || result.status !== 'success') return result;
  return { ...result, data: `${result.data}\n${note}` };
}

/**
 * The refusal of a call whose path its limits do not allow, so that nobody is asked about it; else null. By the time
 * it runs its path may lead elsewhere, so it is given no more of the workspace than its limits allow either.
 */
async function findUnreachable(
  { arguments: args, limits }: ToolCall,
  { definition }: BridgeTool,
  workspace: Workspace,
): Promise<ToolResult | null> {
  const parsed = definition.arguments.safeParse(args);
  if (limits?.allowedPaths === undefined || !parsed.success) return null;
  try {
    for (const path of subjectsOf(definition, parsed.data)) {
      await withinLimits(workspace, limits).resolve(path, 'read');
    }
    return null;
  } catch (error) {
    if (error instanceof ToolFailure) return toErrorResult(error);
    throw error;
  }
}

function withinLimits(workspace: Workspace, limits: CallLimits | undefined): Workspace {
  const { allowedPaths } = limits ?? {};
  return allowedPaths === undefined ? workspace : workspace.limitedTo(allowedPaths);
}

function unwritable({ message }: JournalUnwritable): ToolResult {
  return refuse(
    'STATE_UNWRITABLE',
    `The bridge could not note on its disk that it runs this call (${message}), so it was not run. The person must make ` +
      'room for the state of the bridge, or make it writable. Until then only calls that read are run.',
  );
}

const TOO_LARGE = refuse(
  'PROPOSAL_TOO_LARGE',
  `A person must allow this call, and it is too large to be shown to one: ${RUN_LIMITS.maxProposalBytes} bytes at most. Make several small calls of it.`,
);

/** The lane in which calls are let in; those of paths are absolute. */
const ADMISSION = 'admission';

/** The conversation's calls to its bridge. Every call uses a fresh stub, because a kept stub throws after a reset. */
import { type Findings, missedFindings } from '../../../shared/findings.ts';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import type { OfferSet } from '../../../shared/offer.ts';
import type { ApprovalAnswer } from '../../../shared/tunnel.ts';
import type { Env } from '../../env.ts';
import { tunnelOf } from '../../objects.ts';
import { type Outcome, unwrap } from '../../outcome.ts';
import type { Look, TunnelPort } from '../../ports.ts';

import type { RowMeter } from '../../storage/row-meter.ts';
import type { Machine, RunRequest } from '../store/rows.ts';
import type { LoggedCall } from './calls.ts';
import { messageLookOf } from './message-look.ts';

export interface HandsOf {
  readonly account: string;
  readonly conversationId: string;
  /** Null for a conversation without a bridge. */
  readonly bridgeId: string | null;
}

/** Every call is idempotent and may throw when the tunnel's object resets. */
export class TunnelHands {
  readonly #env: Pick<Env, 'TUNNELS'>;
  readonly #meter: RowMeter;
  readonly #of: HandsOf;

  /** `meter` also counts the rows that the tunnel writes. */
  constructor(env: Pick<Env, 'TUNNELS'>, meter: RowMeter, of: HandsOf) {
    this.#env = env;
    this.#meter = meter;
    this.#of = of;
  }

  /**
   * The bridge with its tools, its present context, its offers, and what it found for a request; null without a
   * bridge, or when it never connected. A set of offers that `held` returns is not fetched again.
   */
  async look(
    held: (digest: string) => OfferSet | undefined,
    request: RunRequest | null,
  ): Promise<Machine | null> {
    const { account, conversationId } = this.#of;
    const message = request ? messageLookOf(conversationId, request) : undefined;
    const look: Look | null | undefined = await this.#tunnel()?.look(account, message);
    this.#meter.count(look?.rows ?? 0);
    if (!look) return null;
    const { offers: digest, ...known } = look.known;
    const isTooLarge = request && look.findings && !fitsRow(look.findings, request);
    const findings = isTooLarge && message ? missedFindings(message) : look.findings;
    const machine = { ...known, ...(findings && { findings }) };
    if (digest === undefined) return machine;
    const offers: OfferSet | null =
      held(digest) ?? (await this.#tunnel()?.offers(account, digest)) ?? null;
    return offers ? { ...machine, offers } : machine;
  }

  /** `isPatient` as in {@link TunnelPort.dispatch}. */
  async dispatch(calls: readonly LoggedCall[], isPatient = false): Promise<void> {
    const { account, conversationId } = this.#of;
    const rows = await this.#tunnel()?.dispatch(
      account,
      calls.map(({ call, mode, tool, limits, definition, approvalReason, worktree }) => ({
        callId: call.callId,
        conversationId,
        tool,
        arguments: { ...call.arguments },
        mode,
        ...(limits && { limits }),
        ...(definition !== undefined && { definition }),
        ...(approvalReason !== undefined && { approvalReason }),
        ...(worktree && { worktree }),
      })),
      isPatient,
    );
    this.#meter.count(rows ?? 0);
  }

  async cancel(callIds: readonly string[]): Promise<void> {
    await this.#tunnel()?.cancel(this.#of.account, callIds);
  }

  /** Passes a person's answer on; the tunnel keeps it for a bridge that is away. */
  async answer(answer: ApprovalAnswer): Promise<void> {
    const outcome: Outcome<number> | undefined = await this.#tunnel()?.answer(
      this.#of.account,
      answer,
    );
    if (outcome) this.#meter.count(unwrap(outcome));
  }

  #tunnel(): DurableObjectStub<TunnelPort> | null {
    const { bridgeId } = this.#of;
    return bridgeId === null ? null : tunnelOf(this.#env, bridgeId);
  }
}

/** Whether the run's row has space for them beside its request. */
function fitsRow(findings: Findings, request: RunRequest): boolean {
  const bytes = new TextEncoder().encode(JSON.stringify([findings, request])).byteLength;
  return bytes <= RUN_LIMITS.maxFoundBytes;
}

/** The conversation's calls to its bridge. Every call uses a fresh stub, because a kept stub throws after a reset. */

import type { MessageContent } from '../../../shared/api/requests.ts';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import {
  type Attachment,
  type Findings,
  missedFindings,
  NOTHING_FOUND,
} from '../../../shared/wire/findings.ts';
import type { OfferSet } from '../../../shared/wire/offer.ts';
import type { ApprovalAnswer } from '../../../shared/wire/tunnel.ts';
import type { Env } from '../../env.ts';
import { tunnelOf } from '../../objects.ts';
import { type Outcome, unwrap } from '../../outcome.ts';
import type { BridgeLook, MachineSeen, TunnelPort } from '../../ports/tunnel.ts';
import { inTime } from '../../reach.ts';
import type { RowMeter } from '../../storage/row-meter.ts';
import type { AskedRequest, Machine } from '../store/rows.ts';
import type { BridgeCall } from './calls.ts';
import { messageLookOf, steerLookOf } from './message-look.ts';

export interface HandsOf {
  readonly account: string;
  readonly conversationId: string;
  readonly bridgeId: string | null;
  readonly isPrivate: boolean;
}

/** Every call is idempotent. It throws when the tunnel's object resets, or hangs. */
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

  /** The bridge as it is now; null without one that ever connected. Offers that `held` returns are not fetched. */
  async look(
    held: (digest: string) => OfferSet | undefined,
    request: AskedRequest | null,
  ): Promise<Machine | null> {
    const { account } = this.#of;
    const message = request ? messageLookOf(this.#of, request) : undefined;
    const look = await this.#ask<BridgeLook | null>((tunnel) => tunnel.look(account, message));
    this.#meter.count(look?.rows ?? 0);
    if (!look) return null;
    const isTooLarge = request && look.findings && !fitsRow(look.findings, request);
    const findings = isTooLarge && message ? missedFindings(message) : look.findings;
    const { offers: digest, ...known } = look.known;
    const machine = machineOf(known, findings, request);
    if (digest === undefined) return machine;
    const offers: OfferSet | null =
      held(digest) ??
      (await this.#ask<OfferSet | null>((tunnel) => tunnel.offers(account, digest)));
    return offers ? { ...machine, offers } : machine;
  }

  /** What the mentions of a message that steers the run lead to. Resolves in any case. */
  async findMentioned(content: MessageContent, run: AskedRequest): Promise<readonly Attachment[]> {
    const { account, conversationId } = this.#of;
    const message = steerLookOf(conversationId, content, run);
    if (!message) return [];
    // A rejection means that the tunnel's object was reset, or hangs.
    const ask = this.#ask<BridgeLook | null>((tunnel) => tunnel.look(account, message));
    const look = await ask.catch(() => null);
    this.#meter.count(look?.rows ?? 0);
    const isWhole = look && (!look.findings || fitsRow(look.findings, content));
    const findings = isWhole ? look.findings : missedFindings(message);
    return findings?.attachments ?? [];
  }

  /** `isPatient` as in {@link TunnelPort.dispatch}. */
  async dispatch(calls: readonly BridgeCall[], isPatient = false): Promise<void> {
    const { account, conversationId, isPrivate } = this.#of;
    const mark = isPrivate && { isPrivate: true as const };
    const known = calls.map((call) => ({ ...call, conversationId, ...mark }));
    const dispatch = (tunnel: TunnelStub) => tunnel.dispatch(account, known, isPatient);
    this.#meter.count((await this.#ask<number>(dispatch)) ?? 0);
  }

  async cancel(callIds: readonly string[]): Promise<void> {
    await this.#ask<void>((tunnel) => tunnel.cancel(this.#of.account, callIds));
  }

  /** Passes a person's answer on; the tunnel keeps it for a bridge that is away. */
  async answer(answer: ApprovalAnswer): Promise<void> {
    const pass = (tunnel: TunnelStub) => tunnel.answer(this.#of.account, answer);
    const outcome = await this.#ask<Outcome<number>>(pass);
    if (outcome) this.#meter.count(unwrap(outcome));
  }

  /** Null without a bridge. */
  async #ask<Answer>(ask: (tunnel: TunnelStub) => Promise<Answer>): Promise<Answer | null> {
    const { bridgeId } = this.#of;
    return bridgeId === null ? null : await inTime(ask(tunnelOf(this.#env, bridgeId)));
  }
}

type TunnelStub = DurableObjectStub<TunnelPort>;

/** In a worktree, the layout and the status of the workspace would mislead. What is missing is not sent. */
function machineOf(
  known: Omit<MachineSeen, 'offers'>,
  findings: Findings | undefined,
  request: AskedRequest | null,
): Omit<Machine, 'offers'> {
  const { worktree, ...found } = findings ?? NOTHING_FOUND;
  const machine = { ...known, ...(findings && { findings: found }) };
  if (!request?.worktree) return machine;
  const { projectLayout: _, gitStatus: __, ...context } = known.context;
  const isInWorktree = worktree !== undefined;
  return { ...machine, isInWorktree, context: { ...context, projectLayout: '', ...worktree } };
}

/** Whether the row has space for them beside what was asked. */
function fitsRow(findings: Findings, asked: AskedRequest | MessageContent): boolean {
  const bytes = new TextEncoder().encode(JSON.stringify([findings, asked])).byteLength;
  return bytes <= RUN_LIMITS.maxFoundBytes;
}

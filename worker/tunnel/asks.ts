/** Asks the bridge itself, and waits for its answers. In memory: an object that ends loses those who wait, too. */
import { CONTEXT_LIMITS, FINDING_LIMITS, TUNNEL_LIMITS } from '../../shared/limits.ts';
import { type MessageLook, missedFindings } from '../../shared/wire/findings.ts';
import type { BridgeFrame, MachineContext, TunnelFrame } from '../../shared/wire/tunnel.ts';
import type { BridgeLook } from '../ports/tunnel.ts';
import { sendFrame } from './socket.ts';

/** The answer to a question to the bridge itself. */
export type Answered = Extract<BridgeFrame, { askId: string }>;

/** The answer to a look, and the number of rows that it wrote. */
type SeenLook = Pick<BridgeLook, 'rows' | 'findings'> & { readonly context?: MachineContext };

/** The open questions to one bridge, and the looks at its workspace. */
export class Asks {
  readonly #asked = new Map<string, (answer: Answered | null) => void>();
  readonly #looks = new Map<string, (seen: SeenLook) => void>();

  /** Null without an answer in time, or where the bridge leaves first. */
  async ask(socket: WebSocket, frameOf: (askId: string) => TunnelFrame): Promise<Answered | null> {
    const askId = crypto.randomUUID();
    const answer = this.#wait(this.#asked, askId, { late: null, ms: TUNNEL_LIMITS.answerMs });
    sendFrame(socket, frameOf(askId));
    return await answer;
  }

  /** Without findings where the answer does not come in time. `grantee`: another account than the owner. */
  async look(
    socket: WebSocket,
    message: MessageLook | undefined,
    grantee: string | undefined,
  ): Promise<SeenLook> {
    const lookId = `${grantee === undefined ? '' : OTHERS}${crypto.randomUUID()}`;
    const missed = message && missedFindings(message);
    const late = { rows: 0, ...(missed && { findings: missed }) };
    const seen = this.#wait(this.#looks, lookId, { late, ms: lookMs(message) });
    sendFrame(socket, { type: 'look', lookId, ...(message && { message }), grantee });
    return await seen;
  }

  answered(answer: Answered): void {
    this.#asked.get(answer.askId)?.(answer);
  }

  /** Ends the open questions. A look waits on: it holds up a run only for a moment, and the bridge may be back by then. */
  bridgeLeft(): void {
    for (const resolve of this.#asked.values()) resolve(null);
  }

  looked(lookId: string, seen: SeenLook): void {
    this.#looks.get(lookId)?.(seen);
  }

  async #wait<Answer>(
    waiting: Map<string, (answer: Answer) => void>,
    id: string,
    { late, ms }: { late: NoInfer<Answer>; ms: number },
  ): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    waiting.set(id, resolve);
    const timer = setTimeout(() => resolve(late), ms);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      waiting.delete(id);
    }
  }
}

/** Whether a look was for another account than the owner: what that sees is not stored as what the owner sees. */
export function isForOthers(lookId: string): boolean {
  return lookId.startsWith(OTHERS);
}

const OTHERS = 'other-';

function lookMs(message: MessageLook | undefined): number {
  const types = new Set(message?.mentions.map(({ type }) => type));
  // A run in the background has time, and must not see the person's folder.
  const waits = message?.worktree !== undefined || message?.called !== undefined;
  if (types.size === 0) return waits ? FINDING_LIMITS.waitMs : CONTEXT_LIMITS.waitMs;
  return types.has('url') ? FINDING_LIMITS.waitForPageMs : FINDING_LIMITS.waitMs;
}

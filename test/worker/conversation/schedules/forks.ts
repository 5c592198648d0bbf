/** Makes copies of a conversation in the middle of everything, and holds them to the original. */
import { env } from 'cloudflare:test';
import { DrawbridgeError } from '../../../../shared/errors.ts';
import { newConversationId, parseResponseId, responseIdOf } from '../../../../shared/ids.ts';
import type { ConversationView } from '../../../../shared/wire/documents.ts';
import { forkConversation } from '../../../../worker/conversation/fork/fork.ts';
import type { DoomedCopy } from './copies.ts';
import { sleep } from './device.ts';
import { Follower } from './follower.ts';
import { explain } from './oracle.ts';
import type { PlannedFork } from './plan.ts';
import { messageBody, type Sender } from './sender.ts';
import type { Stage } from './stage.ts';

/** Before a response that is running is tried again. */
const BUSY_MS = 50;

/** A copy as it was when it was made. */
export interface Fork {
  readonly ordinal: number;
  readonly view: ConversationView;
}

export class Forks {
  readonly made: Fork[] = [];
  /** The new conversation of a copy that is to crash. */
  #copyId = '';
  readonly #stage: Stage;
  readonly #sender: Sender;
  readonly #doomed: Map<string, DoomedCopy>;

  constructor(stage: Stage, sender: Sender, doomed: Map<string, DoomedCopy>) {
    this.#stage = stage;
    this.#sender = sender;
    this.#doomed = doomed;
  }

  get copyId(): string {
    return this.#copyId;
  }

  /** Resolves when the copy was made and has answered a message of its own. */
  async make({ moment, crash, message }: PlannedFork): Promise<void> {
    const { moments, device, random } = this.#stage;
    await moments.until(moment);
    const { ordinal } = parseResponseId(random.pick(this.#sender.responseIds));
    const copyId = crash ? await this.#throughCrash(ordinal, crash) : await this.#ask(ordinal);
    const view = await device.read<ConversationView>(`conversations/${copyId}`);
    this.made.push({ ordinal, view });
    this.#stage.count('forks');
    await this.#goOn(copyId, message);
  }

  async #ask(ordinal: number): Promise<string> {
    const { device, conversationId } = this.#stage;
    const body = { responseId: responseIdOf(conversationId, ordinal) };
    for (;;) {
      const response = await device.insist(`conversations/${conversationId}/forks`, { body });
      if (response.status === 201)
        return (await response.json<{ conversationId: string }>()).conversationId;
      const text = await response.text();
      if (response.status !== 409) throw new Error(`fork: ${response.status} ${text}`);
      await this.#waitForEnd();
    }
  }

  /** Under an id that is known before, as a request has it that begins with a fork and is repeated with its key. */
  async #throughCrash(ordinal: number, point: DoomedCopy['point']): Promise<string> {
    const { scripted, device, conversationId: from } = this.#stage;
    this.#copyId = newConversationId(crypto.randomUUID());
    const to = { account: device.account, conversationId: this.#copyId };
    this.#doomed.set(from, { scripted, point });
    for (;;) {
      try {
        await forkConversation(env, to, { from, ordinal, through: true });
        return this.#copyId;
      } catch (error) {
        if (error instanceof DrawbridgeError) await this.#waitForEnd();
        else await this.#expectAllOrNothing(ordinal);
      }
    }
  }

  async #waitForEnd(): Promise<void> {
    this.#stage.count('forks before the end');
    await sleep(BUSY_MS);
    // Throws once the schedule is over.
    await (await this.#stage.device.fetch('me')).text();
  }

  /** On a busy machine the crash can come when the copy is stored, and only the answer to the fork is lost. */
  async #expectAllOrNothing(ordinal: number): Promise<void> {
    const response = await this.#stage.device.insist(`conversations/${this.#copyId}`);
    if (response.status === 200) this.made.push({ ordinal, view: await response.json() });
    else if (response.status === 404) await response.text();
    else this.#stage.problem(`the copy: ${response.status} ${await response.text()}`);
  }

  /** The copy takes a message as any conversation does. */
  async #goOn(conversationId: string, message: number): Promise<void> {
    const { device, plan, scripted, bridgeId } = this.#stage;
    const needsBridge = plan.messages.flat().some(({ calls }) => calls.length > 0);
    const named = needsBridge && { bridgeId };
    const body = { ...messageBody(plan.seed, message), conversationId, ...named };
    const idempotencyKey = `key-${message}-${bridgeId}`;
    const stream = await device.insist('chat/completions', { body, idempotencyKey });
    const responseId = stream.headers.get('drawbridge-response-id') ?? '';
    const follower = new Follower(READ_ON, {
      open: (cursor) => device.fetch(`chat/completions/${responseId}/events?after=${cursor}`),
      isOver: (ended) => ended.has(responseId),
      seen: () => undefined,
      cut: () => undefined,
      closing: new AbortController().signal,
    });
    await follower.follow(stream);
    this.#stage.problems.push(...follower.problems);
    const [answer] = follower.responses;
    if (!answer) this.#stage.problem('the copy does not go on');
    else this.#stage.problems.push(...explain(answer, [message], scripted, 0));
  }

  /** What the copies have that the original has not, or not so. */
  check(original: ConversationView): void {
    for (const { ordinal, view } of this.made) {
      const expected = copyOf(original, ordinal, view);
      if (JSON.stringify(view) !== JSON.stringify(expected)) {
        this.#stage.problem(`copied ${JSON.stringify(view)}\n  of ${JSON.stringify(expected)}`);
      }
    }
  }
}

const READ_ON = { follows: 'response', transport: 'sse', acksEach: 1, leaves: [] } as const;

/** What a copy of the conversation up to a response has to be. */
function copyOf(
  original: ConversationView,
  ordinal: number,
  { id, created, position }: ConversationView,
): ConversationView {
  const renamed = (responseId: string) => responseIdOf(id, parseResponseId(responseId).ordinal);
  const isCopied = (responseId: string) => parseResponseId(responseId).ordinal <= ordinal;
  return {
    ...original,
    id,
    created,
    position,
    messages: original.messages
      .filter(({ responseId }) => isCopied(responseId))
      .map((message) => ({ ...message, responseId: renamed(message.responseId) })),
    responses: original.responses
      .filter((response) => isCopied(response.id))
      .map((response) => ({ ...response, id: renamed(response.id), conversationId: id })),
  };
}

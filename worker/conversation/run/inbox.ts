/** Messages as they come: appended, told to the run at work, changed while they wait. */
import { DrawbridgeError } from '../../../shared/errors.ts';
import type { TapeEvent } from '../../../shared/events.ts';
import { MAX_RESPONSES, responseIdOf } from '../../../shared/ids.ts';
import { REQUEST_LIMITS, RUN_LIMITS } from '../../../shared/limits.ts';
import type { MessageContent } from '../../../shared/requests.ts';
import type { Posted } from '../../ports.ts';
import type { CallDesk } from '../calls/call-desk.ts';
import type { Machine, Run, RunRequest } from '../store/rows.ts';
import { contentOf, messageOf, shown, startEvent } from '../tape/run-events.ts';
import type { RunDeps } from './run-deps.ts';
import type { Runner } from './runner.ts';

/** Every message is stored and shown in the caller's synchronous step. */
export class Inbox {
  readonly #deps: RunDeps;
  readonly #calls: CallDesk;
  readonly #runner: Runner;

  constructor(deps: RunDeps, calls: CallDesk, runner: Runner) {
    this.#deps = deps;
    this.#calls = calls;
    this.#runner = runner;
  }

  /**
   * Takes a message as its `delivery` says; undefined for `machine` where the bridge's object could not be asked.
   * Returns the id of the response that answers it. Throws CONVERSATION_FULL; CONVERSATION_BUSY, also for too many; and
   * INVALID_REQUEST for one that steers and asks for more.
   */
  take(posted: Posted, machine: Machine | null | undefined): string {
    const { log } = this.#deps;
    const ordinal = log.newest + 1;
    if (ordinal > MAX_RESPONSES) {
      throw new DrawbridgeError('CONVERSATION_FULL', 'Start a new conversation');
    }
    const atWork = log.current;
    const { delivery } = posted;
    if (atWork && delivery === 'reject') {
      throw new DrawbridgeError(
        'CONVERSATION_BUSY',
        'The conversation is answering another message',
      );
    }
    if (log.open.length + log.steers.length > RUN_LIMITS.maxWaiting) {
      throw tooManyWait(`${RUN_LIMITS.maxWaiting} messages`);
    }
    if (atWork) this.#requireRoomFor(posted.request);
    if (atWork?.status === 'running') {
      if (delivery === 'steer') {
        refuseFields(posted.ownFields);
        return this.#steer(atWork, posted);
      }
      if (delivery === 'interrupt') this.#runner.cancel(atWork);
    }
    return this.#submit(ordinal, posted, machine);
  }

  /**
   * Changes what a message says that still waits. False when its run has started, or ended before. Throws
   * PAYLOAD_TOO_LARGE, and CONVERSATION_BUSY where all that waits would be too much.
   */
  edit(run: Run, content: MessageContent): boolean {
    const { log, recorder, conversationId } = this.#deps;
    if (run.status !== 'queued') return false;
    const messages = [...run.request.messages.slice(0, -1), { role: 'user' as const, content }];
    const request = { ...run.request, messages };
    requireStorable(request);
    this.#requireRoomFor(request, run);
    const responseId = responseIdOf(conversationId, run.ordinal);
    recorder.record([{ type: 'message_update', responseId, ...shown(content) }]);
    log.changeRequest(run, request);
    return true;
  }

  /** For a request beside all that is open, or in the place of one. */
  #requireRoomFor(request: RunRequest, replaced?: Run): void {
    const { open, steers } = this.#deps.log;
    const beside = open.filter((run) => run !== replaced).map((run) => run.request);
    const chars = [request, ...beside, ...steers].reduce(
      (sum, held) => sum + JSON.stringify(held).length,
      0,
    );
    if (chars > RUN_LIMITS.maxWaitingChars)
      throw tooManyWait(`${RUN_LIMITS.maxWaitingChars} characters`);
  }

  /** The run starts at once when nothing is at work and its machine is known; else it waits. */
  #submit(ordinal: number, posted: Posted, machine: Machine | null | undefined): string {
    const { log, recorder, head, conversationId, advance, now } = this.#deps;
    this.#calls.passOverQuestions();
    const { request } = posted;
    const message = messageOf(posted, responseIdOf(conversationId, ordinal));
    const said: TapeEvent = { type: 'message', message };
    if (log.current || machine === undefined) {
      recorder.record([said]);
      const first = head() - 1;
      log.submit({ ordinal, status: 'queued', first, started: null, request, machine: null });
    } else {
      recorder.record([said, startEvent(conversationId, { ordinal, request, machine }, now())]);
      const started = head() - 1;
      log.submit({ ordinal, status: 'running', first: started - 1, started, request, machine });
    }
    advance();
    return message.responseId;
  }

  /**
   * Tells the run at work of another message, before its next request to the model; a run that would have ended goes on
   * for it.
   */
  #steer(run: Run, posted: Posted): string {
    const { log, recorder, conversationId, advance } = this.#deps;
    const { idempotency } = posted.request;
    const message = messageOf(posted, responseIdOf(conversationId, run.ordinal));
    recorder.record([{ type: 'message', message: { ...message, steers: true } }]);
    log.addSteer(run, { content: contentOf(posted.request), idempotency });
    this.#calls.passOverQuestions();
    advance();
    return message.responseId;
  }
}

/** The run at work keeps to its own request: what is asked of it here would be dropped. */
function refuseFields(fields: readonly string[]): void {
  const [first] = fields;
  if (first === undefined) return;
  const message =
    'A message that steers is one more for the run at work, which stays as it is: leave this out, or choose another delivery';
  const issues = fields.map((path) => ({ path, message }));
  throw new DrawbridgeError('INVALID_REQUEST', `${first}: ${message}`, { details: { issues } });
}

/** What was sent beside the message stays in its row, so what it says instead has no more room than it had. */
function requireStorable(request: RunRequest): void {
  const { maxBodyBytes } = REQUEST_LIMITS;
  if (new TextEncoder().encode(JSON.stringify(request)).byteLength <= maxBodyBytes) return;
  throw new DrawbridgeError(
    'PAYLOAD_TOO_LARGE',
    `content: with what was sent beside it the message may hold ${maxBodyBytes} bytes`,
  );
}

function tooManyWait(what: string): DrawbridgeError {
  const message = `${what} wait already: let some be answered, or take them back`;
  return new DrawbridgeError('CONVERSATION_BUSY', message);
}

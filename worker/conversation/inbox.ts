/** Incoming messages: each one starts or queues a run, steers the current run, or replaces a waiting message. */

import type { MessageContent } from '../../shared/api/requests.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { MAX_RESPONSES, responseIdOf } from '../../shared/ids.ts';
import { REQUEST_LIMITS, RUN_LIMITS } from '../../shared/limits.ts';
import type { TapeEvent } from '../../shared/wire/events.ts';
import type { Posted } from '../ports/conversation.ts';
import type { CallDesk } from './calls/call-desk.ts';
import { inWantedMode } from './run/own-mode.ts';
import type { RunDeps } from './run/run-deps.ts';
import type { Runner } from './run/runner.ts';
import { ERRANDS } from './store/errands.ts';
import type { Machine, Run, RunRequest } from './store/rows.ts';
import { contentOf, messageOf, shown, startEvent } from './tape/run-events.ts';

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
   * Takes a message as its `delivery` says. `machine` is undefined where the bridge's object could not be asked.
   * Returns the id of the response that answers the message. Throws CONVERSATION_FULL; CONVERSATION_BUSY, also when too
   * many messages wait; and INVALID_REQUEST for a steering message with fields of its own.
   */
  take(posted: Posted, machine: Machine | null | undefined): string {
    const { log } = this.#deps;
    const ordinal = log.newest + 1;
    if (ordinal > MAX_RESPONSES) {
      throw new DrawbridgeError('CONVERSATION_FULL', 'The conversation is full: start a new one');
    }
    const { current } = log;
    const { delivery } = posted;
    if (current && delivery === 'reject') {
      throw new DrawbridgeError(
        'CONVERSATION_BUSY',
        'The conversation is answering another message',
      );
    }
    if (log.open.length + log.steeringMessages.length > RUN_LIMITS.maxWaiting) {
      throw tooManyWait(`${RUN_LIMITS.maxWaiting} messages`);
    }
    if (current) this.#requireRoomFor(posted.request);
    if (current?.status === 'running') {
      // A run that asks no model cannot use it: the message gets a run of its own.
      if (delivery === 'steer' && isSteered(current.request)) {
        refuseFields(posted.ownFields);
        return this.#steer(current, posted);
      }
      if (delivery === 'interrupt') this.#runner.cancel(current);
    }
    return this.#submit(ordinal, this.#settled(posted), machine);
  }

  /** A steering message whose run is over is answered with that run's settings: the usual ones may allow more. */
  #settled(posted: Posted): Posted {
    const { current } = this.#deps.log;
    if (current || posted.delivery !== 'steer' || posted.ownFields.length > 0) return posted;
    for (const { request } of this.#deps.log.back()) {
      if (!isSteered(request)) continue;
      const { model, mode, own, wantedMode, tools } = request;
      return { ...posted, request: { ...posted.request, model, mode, own, wantedMode, tools } };
    }
    return posted;
  }

  /** Changes a waiting message; false once its run has begun. Throws PAYLOAD_TOO_LARGE and CONVERSATION_BUSY. */
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

  /** Checks the size of a request with all open runs and steers. `replaced` is the run whose request it replaces. */
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

  /** Adds a run. It starts at once when no run is current and its machine is known; otherwise it waits. */
  #submit(ordinal: number, posted: Posted, machine: Machine | null | undefined): string {
    const { log, recorder, head, conversationId, advance, now, settings, watch } = this.#deps;
    this.#calls.passOver();
    const { request } = posted;
    const message = messageOf(posted, responseIdOf(conversationId, ordinal));
    const said: TapeEvent = { type: 'message', message };
    if (log.current || machine === undefined) {
      recorder.record([said]);
      const first = head() - 1;
      log.submit({ ordinal, status: 'queued', first, started: null, request, machine: null });
    } else {
      const begun = inWantedMode(request, machine, settings);
      const run = { ordinal, request: begun, machine };
      recorder.record([said, startEvent(conversationId, run, now())]);
      const started = head() - 1;
      log.submit({ ...run, status: 'running', first: started - 1, started });
      watch.started(run);
    }
    advance();
    return message.responseId;
  }

  /** Adds what an app has said behind the results of its tools to the current run, whose next request it joins. */
  sayBehind(said: readonly MessageContent[]): void {
    const { log, recorder, conversationId, now } = this.#deps;
    const run = log.current;
    if (run?.status !== 'running') return;
    const responseId = responseIdOf(conversationId, run.ordinal);
    for (const content of said) {
      const created = new Date(now()).toISOString();
      const message = { responseId, created, ...shown(content), steers: true } as const;
      recorder.record([{ type: 'message', message }]);
      log.addSteer(run, { content });
    }
  }

  /** Adds a message to the current run's next request. A run that would have finished goes on for it. */
  #steer(run: Run, posted: Posted): string {
    const { log, recorder, conversationId, advance } = this.#deps;
    const { idempotency } = posted.request;
    const message = messageOf(posted, responseIdOf(conversationId, run.ordinal));
    recorder.record([{ type: 'message', message: { ...message, steers: true } }]);
    log.addSteer(run, { content: contentOf(posted.request), idempotency });
    this.#calls.passOver();
    advance();
    return message.responseId;
  }
}

function isSteered({ type }: RunRequest): boolean {
  return ERRANDS[type].isSteered;
}

/** Refuses the fields of a steering message: the current run keeps its own request and would ignore them. */
function refuseFields(fields: readonly string[]): void {
  const [first] = fields;
  if (first === undefined) return;
  const message =
    'A message with delivery "steer" joins the response in progress and cannot change its settings: leave this field out, or choose another delivery';
  const issues = fields.map((path) => ({ path, message }));
  throw new DrawbridgeError('INVALID_REQUEST', `${first}: ${message}`, { details: { issues } });
}

/** The edited request keeps its other fields, and together they may not exceed the size of a request body. */
function requireStorable(request: RunRequest): void {
  const { maxBodyBytes } = REQUEST_LIMITS;
  if (new TextEncoder().encode(JSON.stringify(request)).byteLength <= maxBodyBytes) return;
  throw new DrawbridgeError(
    'PAYLOAD_TOO_LARGE',
    `content: the message and the other fields of its request may take ${maxBodyBytes} bytes together`,
  );
}

function tooManyWait(what: string): DrawbridgeError {
  const message = `${what} are waiting already: wait until some are answered, or cancel some`;
  return new DrawbridgeError('CONVERSATION_BUSY', message);
}

/** A model whose answers the test writes frame by frame, and which notices when it is no longer listened to. */
import { vi } from 'vitest';
import {
  framesOf,
  type ScriptedCall,
  type ScriptedReply,
  type ScriptedRequest,
} from '../../far-ends/reply-script.ts';

/** One request of the Worker to the model, waiting for what the test answers. */
export interface HeldReply {
  readonly request: ScriptedRequest;
  /** Resolves when the Worker gave the request up. */
  untilAborted(): Promise<void>;
  send(...frames: readonly string[]): void;
  /** Ends the connection, well or not. */
  close(error?: Error): void;
  /** Sends a whole reply. */
  answer(reply: ScriptedReply): void;
}

export interface HeldModel {
  /** How many requests came so far. */
  readonly count: number;
  /** The next request that was not taken yet. */
  next(): Promise<HeldReply>;
}

/**
 * Both sides look by a timer of their own: a promise that one resolves would let the other go on in the wrong context,
 * from which the runtime lets no one touch an object's storage or a test's streams.
 */
export function holdModel(): HeldModel {
  const arrived: HeldReply[] = [];
  let count = 0;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = (await new Request(input, init).json()) as ScriptedRequest;
    const { reply, response } = hold(request, init?.signal ?? undefined);
    count++;
    arrived.push(reply);
    return response;
  });
  return {
    get count() {
      return count;
    },
    async next() {
      let reply = arrived.shift();
      for (; !reply; reply = arrived.shift()) await tick();
      return reply;
    },
  };
}

function hold(
  request: ScriptedRequest,
  signal: AbortSignal | undefined,
): { reply: HeldReply; response: Response } {
  const encoder = new TextEncoder();
  let isAborted = false;
  let waiting = '';
  let ending: { readonly error: unknown } | undefined;
  signal?.addEventListener('abort', () => {
    ending ??= { error: signal.reason };
    isAborted = true;
  });
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      while (waiting === '' && !ending) await tick();
      if (waiting !== '') controller.enqueue(encoder.encode(waiting));
      else if (ending?.error) controller.error(ending.error);
      else controller.close();
      waiting = '';
    },
  });
  const reply: HeldReply = {
    request,
    async untilAborted() {
      while (!isAborted) await tick();
    },
    send(...frames) {
      waiting += frames.join('');
    },
    close(error) {
      ending ??= { error };
    },
    answer(scripted) {
      this.send(...framesOf(scripted));
      this.close();
    },
  };
  return {
    reply,
    response: new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
  };
}

/** Not by `setTimeout`, for which the test runner looks up its caller: each request and each pause ticks a thousand times. */
function tick(): Promise<void> {
  return scheduler.wait(1);
}

export function textFrame(content: string): string {
  return frame({ delta: { content } });
}

/** The end of a reply, with what the upstream counted. */
/** A piece of reasoning, under the name that most servers give it. */
export function thoughtFrame(text: string): string {
  const choice = { index: 0, delta: { reasoning_content: text }, finish_reason: null };
  return `data: ${JSON.stringify({ choices: [choice] })}\n\n`;
}

export function endFrames(finishReason: string, usage?: Record<string, unknown>): string[] {
  return [
    frame({ delta: {}, finish_reason: finishReason }),
    ...(usage ? [`data: ${JSON.stringify({ choices: [], usage })}\n\n`] : []),
    'data: [DONE]\n\n',
  ];
}

/** A whole call with raw arguments and the upstream's own id. */
export function callFrame(index: number, id: string, name: string, rawArguments: string): string {
  const call = { index, id, type: 'function', function: { name, arguments: rawArguments } };
  return frame({ delta: { tool_calls: [call] } });
}

export function readFile(path: string): ScriptedCall {
  return { name: 'read_file', arguments: { target_file: path } };
}

export function runCommand(command: string): ScriptedCall {
  return { name: 'run_terminal_cmd', arguments: { command } };
}

function frame(choice: { delta: object; finish_reason?: string }): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, finish_reason: null, ...choice }] })}\n\n`;
}

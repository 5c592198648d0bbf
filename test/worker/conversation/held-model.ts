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
  readonly aborted: Promise<void>;
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

export function holdModel(): HeldModel {
  const arrived: HeldReply[] = [];
  const wanted: ((reply: HeldReply) => void)[] = [];
  let count = 0;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = (await new Request(input, init).json()) as ScriptedRequest;
    const { reply, response } = hold(request, init?.signal ?? undefined);
    count++;
    const waiting = wanted.shift();
    if (waiting) waiting(reply);
    else arrived.push(reply);
    return response;
  });
  return {
    get count() {
      return count;
    },
    next: () => {
      const reply = arrived.shift();
      if (reply) return Promise.resolve(reply);
      return new Promise((resolve) => wanted.push(resolve));
    },
  };
}

function hold(
  request: ScriptedRequest,
  signal: AbortSignal | undefined,
): { reply: HeldReply; response: Response } {
  const encoder = new TextEncoder();
  const aborted = Promise.withResolvers<void>();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(started) {
      controller = started;
    },
  });
  signal?.addEventListener('abort', () => {
    controller?.error(signal.reason);
    aborted.resolve();
  });
  const reply: HeldReply = {
    request,
    aborted: aborted.promise,
    send: (...frames) => controller?.enqueue(encoder.encode(frames.join(''))),
    close: (error) => (error ? controller?.error(error) : controller?.close()),
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

/** One delta of text. */
export function textFrame(content: string): string {
  return frame({ delta: { content } });
}

/** The end of a reply, with what the upstream counted. */
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

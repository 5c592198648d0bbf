/** An upstream that does only what its test says. */
import { vi } from 'vitest';

/** Its clock is a fake one. */
export class SlowUpstream {
  signal: AbortSignal | null | undefined;
  readonly #response = Promise.withResolvers<Response>();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  /** As `fetch` does, it fails with the signal. */
  answer(signal: AbortSignal | null | undefined): Promise<Response> {
    this.signal = signal;
    signal?.addEventListener('abort', () => {
      this.#response.reject(signal.reason);
      this.#controller?.error(signal.reason);
    });
    return this.#response.promise;
  }

  open(): void {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
    });
    const headers = { 'content-type': 'text/event-stream' };
    this.#response.resolve(new Response(body, { headers }));
  }

  end(): void {
    this.#controller?.close();
  }

  async send(text: string): Promise<void> {
    this.#controller?.enqueue(new TextEncoder().encode(text));
    await vi.advanceTimersByTimeAsync(0);
  }
}

/** The expected failures of running Drawbridge on this machine. */

/** One clear sentence for a person. `refused`: the request is impossible. `failed`: the attempt went wrong. */
export class LocalError extends Error {
  override readonly name = 'LocalError';
  readonly kind: 'refused' | 'failed';

  constructor(kind: 'refused' | 'failed', message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.kind = kind;
  }
}

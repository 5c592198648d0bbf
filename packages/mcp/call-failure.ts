/** How a call to an MCP server failed. Apart from the connection, so that a bridge without servers loads no SDK. */

/**
 * `answered`: the server refused the call, and goes on. `timeout`: the server got a cancel. `refused`: the call never
 * reached the server. `lost`: the connection ended meanwhile, and the call may have had any effect.
 */
export type CallOutcome = 'answered' | 'timeout' | 'refused' | 'lost';

export class CallFailure extends Error {
  override readonly name = 'CallFailure';
  readonly outcome: CallOutcome;

  constructor(outcome: CallOutcome, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.outcome = outcome;
  }
}

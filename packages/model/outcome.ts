/** Judges how an answer ended. */

/** `truncated`: a token limit. `error`: reported by the upstream. `interrupted`: the stream stopped without an end. */
export type ReplyOutcome = 'completed' | 'truncated' | 'filtered' | 'error' | 'interrupted';

/** Everything known at the end of the stream. */
interface StreamEnding {
  readonly hasError: boolean;
  readonly finishReason: string;
  readonly nativeFinishReason: string;
  /** `[DONE]` came. */
  readonly isDone: boolean;
  /** There is text or a call, and every call has whole arguments. */
  readonly isUsable: () => boolean;
}

/** Only a finish reason, or `[DONE]` after a usable answer, makes an answer complete. */
export function judgeEnding(ending: StreamEnding): ReplyOutcome {
  const reason = ending.finishReason.toLowerCase();
  if (ending.hasError || ERROR.has(reason)) return 'error';
  if (FILTERED.has(reason)) return 'filtered';
  // A gateway may say `tool_calls` where the model behind it was cut off.
  if (TRUNCATED.has(reason) || TRUNCATED.has(ending.nativeFinishReason.toLowerCase())) {
    return 'truncated';
  }
  if (reason === PAUSED) return 'interrupted';
  return reason !== '' || (ending.isDone && ending.isUsable()) ? 'completed' : 'interrupted';
}

/** Anthropic: the server's own tools have taken too long. It goes on only where it gets their calls back. */
const PAUSED = 'pause_turn';

const TRUNCATED: ReadonlySet<string> = new Set([
  'length',
  'max_tokens',
  'max_output_tokens',
  'model_length', // Mistral
  'model_context_window_exceeded', // Z.ai
]);

const FILTERED: ReadonlySet<string> = new Set([
  'content_filter',
  'sensitive', // Z.ai
  'safety', // Gemini
  'refusal', // Anthropic
  'prohibited_content',
]);

const ERROR: ReadonlySet<string> = new Set([
  'error',
  'network_error', // Z.ai
]);

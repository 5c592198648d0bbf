/** A request to a model in the form of Chat Completions, with a few more fields. Each dialect writes it its own way. */
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from 'openai/resources/chat/completions';
import type { Sampling } from '../../shared/api/requests.ts';
import type { ToolDemand } from '../../shared/tools/toolbox.ts';
import type { ServerTarget } from './models.ts';
import type { RefusedHistory } from './refusals/ladder.ts';

/** An assistant's message carries back what its upstream needs to see again (OpenRouter, Gemini, DeepSeek). */
export type UpstreamMessage =
  | Exclude<ChatCompletionMessageParam, ChatCompletionAssistantMessageParam>
  | (ChatCompletionAssistantMessageParam & {
      readonly reasoning_details?: readonly unknown[];
      /** The reasoning in words. Sent under the name of the switch `reasoningField`, or left out. */
      readonly reasoning?: string;
      /** The model that said it; undefined where that is unknown. Not sent. */
      readonly by?: string;
    });

/** Images that are put into a body while it is sent, so that no copy of it holds them all. */
export interface ImagesToSend {
  /** The body with the images in place of their tokens. `onPiece` is called before each piece that goes out. */
  fill(text: string, onPiece?: () => void): string | ReadableStream<Uint8Array>;
}

export interface UpstreamRequest {
  /** The requested name. The server may know the model by another name. */
  readonly model: string;
  readonly messages: readonly UpstreamMessage[];
  readonly tools: readonly ChatCompletionTool[];
  /** What the answer must begin with; absent where the model chooses. */
  readonly demand?: ToolDemand | undefined;
  /** Set where no later request begins with the same messages: caching them would only cost. */
  readonly isOnce?: true;
  /** The client's settings. */
  readonly sampling?: Sampling | undefined;
  /** The large images of the messages; undefined where there are none. Not sent. */
  readonly images?: ImagesToSend | undefined;
  /** What can be done with the messages if the server refuses them; undefined where nothing can. Not sent. */
  readonly history?: RefusedHistory | undefined;
}

/** The longest answer to ask for: the smaller one of the model's limit and the client's. Undefined without both. */
export function maxTokensOf(
  { sampling }: UpstreamRequest,
  { maxOutputTokens }: ServerTarget,
): number | undefined {
  const known = [maxOutputTokens, sampling?.maxTokens].filter((limit) => limit !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** The JSON of a request, without lone surrogates: providers refuse them. The slow path (`\ud…`) is rare. */
export function stringifyBody(body: object): string {
  const text = JSON.stringify(body);
  if (!text.includes('\\ud')) return text;
  return JSON.stringify(body, (_, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed() : value,
  );
}

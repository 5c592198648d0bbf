/** What a scripted model answers, as the chunks of OpenAI's stream. Runs in Node and in workerd. */

export interface ScriptedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface ScriptedReply {
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  /** UTF-16 units of one delta. */
  readonly chunkChars?: number;
  /** What the server counts of the prompt. */
  readonly promptTokens?: number;
}

/** The request as far as scripts look at it. */
export interface ScriptedRequest {
  readonly model: string;
  readonly messages: readonly {
    readonly role: string;
    readonly content?: unknown;
    readonly tool_calls?: readonly {
      readonly id: string;
      readonly function: { readonly name: string; readonly arguments: string };
    }[];
    readonly tool_call_id?: string;
  }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

const COMPLETION_TOKENS = 7;

/** The SSE frames of a whole reply, in order. */
export function framesOf(reply: ScriptedReply): string[] {
  const { text = '', calls = [], chunkChars = 8, promptTokens = 11 } = reply;
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: COMPLETION_TOKENS,
    total_tokens: promptTokens + COMPLETION_TOKENS,
  };
  return [
    frame({ delta: { role: 'assistant', content: '' } }),
    ...slices(text, chunkChars).map((content) => frame({ delta: { content } })),
    ...calls.flatMap((call, index) => callFrames(call, index, chunkChars)),
    frame({ delta: {}, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }),
    `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices: [], usage })}\n\n`,
    'data: [DONE]\n\n',
  ];
}

function callFrames(
  { name, arguments: args }: ScriptedCall,
  index: number,
  chunkChars: number,
): string[] {
  const start = {
    index,
    id: `call_up_${index}`,
    type: 'function',
    function: { name, arguments: '' },
  };
  return [
    frame({ delta: { tool_calls: [start] } }),
    ...slices(JSON.stringify(args), chunkChars).map((fragment) =>
      frame({ delta: { tool_calls: [{ index, function: { arguments: fragment } }] } }),
    ),
  ];
}

function frame(choice: { delta: object; finish_reason?: string }): string {
  const chunk = {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'scripted',
    choices: [{ index: 0, finish_reason: null, ...choice }],
  };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

function slices(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
}

/** An event stream of these frames; `after` decides how it goes on. */
export function streamOf(
  frames: readonly string[],
  ending: 'close' | 'hang' | 'fail' = 'close',
): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const frame of frames) controller.enqueue(encoder.encode(frame));
      if (ending === 'close') controller.close();
      if (ending === 'fail') controller.error(new Error('connection reset'));
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

import { expect, it } from 'vitest';
import { called, expectRecorded, type Recorded, sentAgain, thoughts } from './recorded.ts';

const ENDED = { finishReason: 'completed' };

const COMMENTARY: Recorded = {
  name: 'openai-commentary-call',
  server: 'OpenAI, gpt-5.5, with a comment before its call',
  from: 'pydantic/pydantic-ai tests/models/cassettes/test_openai_responses/test_openai_responses_phase_streamed_on_part_start.yaml',
  reply: {
    ...ENDED,
    text: 'The old br',
    reasoningDetails: thoughts(
      'responses',
      [
        0,
        {
          id: 'rs_f79d0d61b0e9cd32572cdd6bce27fc65d63a442c9a99845470',
          type: 'reasoning',
          content: [],
          summary: [],
          encrypted_content: 'gAAAO8J1vDBTnGae58aAQGuvD7cWphCCUtmsZZj1VVoHKSB=',
        },
      ],
      [0, { type: 'message', phase: 'commentary' }],
    ),
    calls: [called('call_DabM71Dkmj9jBaJ00MMBaHbN', 'get_capital', '{"country":"a-spare-ke"}')],
    usage: {
      promptTokens: 63,
      completionTokens: 69,
      totalTokens: 132,
      cachedPromptTokens: 0,
      cacheWriteTokens: 0,
      reasoningTokens: 26,
    },
  },
};

const OPENROUTER: Recorded = {
  name: 'openrouter-reasoning-ends-last',
  server: 'OpenRouter, openai/gpt-oss-20b, which ends a thought behind the text that follows it',
  from: 'pydantic/pydantic-ai tests/models/cassettes/test_openai_responses/test_openai_responses_raw_cot_stream_openrouter.yaml',
  reply: {
    ...ENDED,
    text: 'T',
    reasoning: 'Whoever fi',
    reasoningDetails: thoughts('responses', [
      0,
      {
        type: 'reasoning',
        id: 'rs_tmp_6shf0k62sgq',
        summary: [],
        content: [{ type: 'reasoning_text', text: 'Whoever fi' }],
      },
    ]),
    usage: {
      promptTokens: 78,
      completionTokens: 37,
      totalTokens: 115,
      cachedPromptTokens: 0,
      reasoningTokens: 22,
    },
  },
};

const RECORDED: readonly Recorded[] = [
  COMMENTARY,
  OPENROUTER,
  {
    name: 'openai-reasoning-two-calls',
    server: 'OpenAI, gpt-5, with a reasoning item that holds nothing',
    from: 'charmbracelet/fantasy providertests/testdata/TestOpenAIResponsesCommon/openai-gpt-5/multi_tool_streaming.yaml',
    reply: {
      ...ENDED,
      calls: [
        called('call_ndKcEAc6sA0HCpbPhbpLaq25', 'add', '{"a":2,"b":3}'),
        called('call_Lh07PBjjdRgLcmFgQRLJPRRH', 'multiply', '{"a":2,"b":3}'),
      ],
      usage: {
        promptTokens: 109,
        completionTokens: 223,
        totalTokens: 332,
        cachedPromptTokens: 0,
        reasoningTokens: 128,
      },
    },
  },
  {
    name: 'openai-two-messages',
    server: 'OpenAI, a comment and an answer, each a message of its own',
    from: 'vercel/ai packages/openai/src/responses/__fixtures__/openai-phase.1.chunks.txt',
    reply: {
      ...ENDED,
      text: 'A spar\n\nThe kettle sings wh',
      reasoningDetails: thoughts(
        'responses',
        [0, { type: 'message', phase: 'commentary' }],
        [1, { type: 'message', phase: 'final_answer' }],
      ),
      usage: {
        promptTokens: 7_112,
        completionTokens: 463,
        totalTokens: 7_575,
        cachedPromptTokens: 3_072,
        reasoningTokens: 64,
      },
    },
  },
  {
    name: 'openai-cut-call',
    server: 'OpenAI, gpt-5.6, the token limit within the arguments of a call',
    from: '0xPlaygrounds/rig tests/cassettes/openai/streaming_grammar/incomplete_mid_tool_call.yaml',
    reply: {
      outcome: 'truncated',
      finishReason: 'max_output_tokens',
      calls: [
        {
          id: 'call_REDACTED_1',
          name: 'add',
          rawArguments: '{"x":48151',
          arguments: null,
          mayExecute: false,
          problem: expect.stringContaining('token limit'),
        },
      ],
      usage: {
        promptTokens: 83,
        completionTokens: 16,
        totalTokens: 99,
        cachedPromptTokens: 0,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
      },
    },
  },
  {
    name: 'openai-only-reasoning',
    server: 'OpenAI, the token limit within the thoughts',
    from: 'Mirascope/mirascope typescript/tests/e2e/output/cassettes/max-tokens/openai_responses/returns-max-tokens-finish-reason-for-stream.har',
    reply: {
      outcome: 'truncated',
      finishReason: 'max_output_tokens',
      usage: {
        promptTokens: 13,
        completionTokens: 0,
        totalTokens: 13,
        cachedPromptTokens: 0,
        reasoningTokens: 0,
      },
    },
  },
  {
    name: 'openai-refusal',
    server: 'OpenAI, gpt-4o, a refusal',
    from: 'Mirascope/mirascope python/tests/e2e/output/cassettes/test_refusal/openai_gpt_4o_responses/stream.yaml',
    reply: {
      ...ENDED,
      text: 'The old bridge ',
      usage: {
        promptTokens: 54,
        completionTokens: 11,
        totalTokens: 65,
        cachedPromptTokens: 0,
        reasoningTokens: 0,
      },
    },
  },
  {
    name: 'openai-failed',
    server: 'OpenAI, an error and the failure behind it',
    from: 'vercel/ai packages/openai/src/responses/__fixtures__/openai-error.1.chunks.txt',
    reply: {
      outcome: 'error',
      finishReason: 'failed',
      error: {
        code: 'insufficient_quota',
        type: 'insufficient_quota',
        status: null,
        message: expect.stringContaining('Every tray holds nine of them,'),
      },
    },
  },
  {
    name: 'openai-keepalive',
    server: 'OpenAI, gpt-4.1, with a sign of life between the events',
    from: 'posit-dev/chatlas tests/_vcr/test_chat/test_chat_tool_request_reject.yaml',
    reply: {
      ...ENDED,
      text: 'Whoever finds the ladd',
      usage: {
        promptTokens: 140,
        completionTokens: 7,
        totalTokens: 147,
        cachedPromptTokens: 0,
        reasoningTokens: 0,
      },
    },
  },
  {
    name: 'openai-web-search',
    server: 'OpenAI, gpt-5.2, with searches of the server and annotations',
    from: 'pydantic/pydantic-ai tests/models/cassettes/test_openai_responses/test_openai_include_raw_annotations_streaming.yaml',
    reply: {
      ...ENDED,
      text:
        'Two boats wait at the pier until the fog lifts. My neighbour paints fences in spring ' +
        'and mends clocks in autumn. The old bridge creaks, but the mules trust it. Po',
      usage: {
        promptTokens: 12_243,
        completionTokens: 140,
        totalTokens: 12_383,
        cachedPromptTokens: 0,
        reasoningTokens: 100,
      },
    },
  },
  {
    name: 'chatgpt-empty-output',
    server: 'ChatGPT’s backend of Codex, gpt-5.4, whose last event repeats no items',
    from: '0xPlaygrounds/rig tests/cassettes/chatgpt/streaming_tools/tool_call_completed_response_without_output.yaml',
    reply: {
      ...ENDED,
      calls: [called('call_REDACTED_1', 'ping', '{}')],
      usage: {
        promptTokens: 56,
        completionTokens: 14,
        totalTokens: 70,
        cachedPromptTokens: 0,
        reasoningTokens: 0,
      },
    },
  },
  {
    name: 'copilot-changing-ids',
    server: 'GitHub Copilot, whose items get another id with each event, with a mere summary',
    from: 'vercel/ai packages/openai/src/responses/__fixtures__/github-copilot-id-rotation.1.chunks.txt',
    reply: {
      ...ENDED,
      text: 'Every tray h',
      reasoning: 'Whoever finds the ladder may keep ',
      reasoningDetails: thoughts('responses', [0, { type: 'message', phase: 'final_answer' }]),
      usage: {
        promptTokens: 19,
        completionTokens: 105,
        totalTokens: 124,
        cachedPromptTokens: 0,
        cacheWriteTokens: 0,
        reasoningTokens: 44,
      },
    },
  },
  {
    name: 'xai-two-calls',
    server: 'xAI, grok-4.3, with a mere summary of the thoughts',
    from: '0xPlaygrounds/rig tests/cassettes/xai/agent_tool_sessions/parallel_tool_calls_single_turn_streaming.yaml',
    reply: {
      ...ENDED,
      reasoning: 'Pour the sand slowly, count to ',
      calls: [
        called('call_REDACTED_1', 'lookup_harbor_label', '{}'),
        called('call_REDACTED_2', 'lookup_orchard_label', '{}'),
      ],
      usage: {
        promptTokens: 352,
        completionTokens: 267,
        totalTokens: 619,
        cachedPromptTokens: 320,
        reasoningTokens: 252,
      },
    },
  },
  {
    name: 'deepseek-call',
    server: 'DeepSeek, deepseek-v4-flash',
    from: 'pydantic/pydantic-ai tests/models/cassettes/test_deepseek_responses/test_deepseek_responses[function_tool_stream].yaml',
    reply: {
      ...ENDED,
      reasoning: 'The kettle sin',
      reasoningDetails: thoughts('responses', [
        0,
        {
          type: 'reasoning',
          id: 'ba6e273b-924d-4e52-35b2-f765a5aa0182',
          status: 'completed',
          content: [{ type: 'reasoning_text', text: 'The kettle sin' }],
          summary: [],
        },
      ]),
      calls: [called('call_60_dbR6D8QdKrgsMnbr7LfA8059', 'get_temperature', '{"city": "my-ne"}')],
      usage: {
        promptTokens: 366,
        completionTokens: 59,
        totalTokens: 425,
        cachedPromptTokens: 256,
        reasoningTokens: 14,
      },
    },
  },
  {
    name: 'bedrock-reasoning',
    server: 'Amazon Bedrock, openai.gpt-oss-20b',
    from: 'crmne/ruby_llm spec/fixtures/vcr_cassettes/providers_bedrock_mantle_responses_chat_streams_through_the_responses_surface.yml',
    reply: {
      ...ENDED,
      text: 'The old bridge creaks, but \n\nA  \nT  \nA  \nT  \nP',
      reasoning: 'Whoever finds the ladder may ke',
      reasoningDetails: thoughts('responses', [
        0,
        {
          id: 'msg_7d285d913344cafb',
          type: 'reasoning',
          status: 'completed',
          summary: [],
          content: [{ type: 'reasoning_text', text: 'Whoever finds the ladder may ke' }],
        },
      ]),
      usage: {
        promptTokens: 75,
        completionTokens: 46,
        totalTokens: 121,
        cachedPromptTokens: 0,
        reasoningTokens: 20,
      },
    },
  },
  {
    name: 'lmstudio-call',
    server: 'LM Studio',
    from: 'vercel/ai packages/open-responses/src/responses/__fixtures__/lmstudio-tool-call.1.chunks.txt',
    reply: {
      ...ENDED,
      text: 'My neighb',
      reasoning: 'Pour the sand ',
      reasoningDetails: thoughts('responses', [
        0,
        {
          id: 'rs_3jc2ap7ss6hb5jsrpdsj7',
          type: 'reasoning',
          status: 'completed',
          content: [{ type: 'reasoning_text', text: 'Pour the sand ' }],
          summary: [],
        },
      ]),
      calls: [called('call_d373177860e1288b', 'weather', '{"location":"the kettle si"}')],
      usage: {
        promptTokens: 182,
        completionTokens: 61,
        totalTokens: 243,
        cachedPromptTokens: 2,
        reasoningTokens: 48,
      },
    },
  },
];

it.each(RECORDED.map((recorded) => [recorded.name, recorded] as const))(
  'a recorded answer is read whole: %s',
  (_, recorded) => {
    expectRecorded('responses', recorded);
  },
);

it('sends a recorded answer back as the server sent it, with the phase of its text', () => {
  const [call] = COMMENTARY.reply.calls ?? [];
  expect(sentAgain('responses', COMMENTARY)).toEqual([
    expect.objectContaining({ type: 'reasoning', encrypted_content: expect.any(String) }),
    { role: 'assistant', content: 'The old br', phase: 'commentary' },
    {
      type: 'function_call',
      call_id: call?.id,
      name: 'get_capital',
      arguments: call?.rawArguments,
    },
    { type: 'function_call_output', call_id: call?.id, output: 'ok' },
  ]);
});

it('sends a thought before the text that it began before', () => {
  expect(sentAgain('responses', OPENROUTER)).toEqual([
    expect.objectContaining({ type: 'reasoning' }),
    { role: 'assistant', content: 'T' },
  ]);
});

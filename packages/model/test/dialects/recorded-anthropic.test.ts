import { expect, it } from 'vitest';
import { called, expectRecorded, type Recorded, sentAgain, thoughts } from './recorded.ts';

const CACHE = { cachedPromptTokens: 0, cacheWriteTokens: 0 };

const THINKING = {
  type: 'thinking',
  thinking:
    'Pour the sand slowly, count to seven, and close the lid. Whoever finds the ladder may keep ' +
    'the apples. The kettle sings while we sort the blue marbles by size. Every tray holds nine ' +
    'of them, and the tenth goes b',
  signature: 'EqQDJyEDC68/6ev0Me3BRB+C8DCu8IU7CECQ+Mtgg6Fbs94=',
};

const PAUSED = {
  type: 'thinking',
  thinking: [
    'The old bridge creaks, but the mules trust it. Pour the sand slowly, count to seven, and close the lid. Whoever finds the ladder may keep the apples. T',
    'Two boats wait at the pier until the fog lifts. My neighbour p',
    'A spare key hangs behind the map, and the shelf leans a little to',
    'Whoever finds the ladder may keep the apples. The kettle sin',
    '',
    'The kettle sings while we sort the blue marbles by size. Every tray ',
  ].join('\n'),
  signature: 'EuwJzaMuq3xfX8npylvJ+SXRylqRJddWk0PgnPQpnFijTLF=',
};

const THINKING_CALL: Recorded = {
  name: 'anthropic-thinking-call',
  server: 'Anthropic, claude-sonnet-4-5-20250929',
  from: 'braintrustdata/braintrust-sdk-javascript e2e/scenarios/flue-instrumentation/__cassettes__/flue-v0-8-0.cassette.json',
  reply: {
    finishReason: 'tool_use',
    text: 'Pour the sand slowly, cou',
    reasoning: THINKING.thinking,
    reasoningDetails: thoughts('anthropic', [0, THINKING]),
    calls: [
      called(
        'toolu_01GMsg2DeKbrNMPq0FJ4sMM5',
        'summarize_source',
        '{"url": "whoever finds the ladder may keep the apple"}',
      ),
    ],
    usage: {
      promptTokens: 2_705,
      completionTokens: 138,
      totalTokens: 2_843,
      cachedPromptTokens: 2_458,
      cacheWriteTokens: 234,
      reasoningTokens: 61,
    },
  },
};

const RECORDED: readonly Recorded[] = [
  THINKING_CALL,
  {
    name: 'anthropic-two-calls',
    server: 'Anthropic, claude-sonnet-4-20250514',
    from: 'charmbracelet/fantasy providertests/testdata/TestAnthropicCommon/claude-sonnet-4/multi_tool_streaming.yaml',
    reply: {
      finishReason: 'tool_use',
      text: 'Pour the sand slowly, count to seven, and close th',
      calls: [
        called('toolu_01QCfPAF1qQBN8hchahJ04kB', 'add', '{"a": 2, "b": 3}'),
        called('toolu_01QnGc6hkPQaHkj1N2asqKrn', 'multiply', '{"a": 2, "b": 3}'),
      ],
      usage: { promptTokens: 502, completionTokens: 137, totalTokens: 639, ...CACHE },
    },
  },
  {
    name: 'anthropic-redacted',
    server: 'Anthropic, claude-sonnet-4-6',
    from: '0xPlaygrounds/rig tests/cassettes/anthropic/messages_thinking/redacted_thinking_streaming.yaml',
    reply: {
      finishReason: 'end_turn',
      text: 'Th',
      reasoningDetails: thoughts(
        'anthropic',
        [0, { type: 'redacted_thinking', data: 'reda24YMU0DLQRQTiFmB2OIGA8X3' }],
        [0, { type: 'redacted_thinking', data: 'redaSWQI8FwEir8AD1QY6ix2b_Fe' }],
      ),
      usage: {
        promptTokens: 100,
        completionTokens: 13,
        totalTokens: 113,
        ...CACHE,
        reasoningTokens: 7,
      },
    },
  },
  {
    name: 'anthropic-adaptive',
    server: 'Anthropic, claude-opus-4-6, which begins with a blank text before its thoughts',
    from: 'simonw/llm-anthropic tests/cassettes/test_anthropic/test_opus_46_adaptive_thinking.yaml',
    reply: {
      finishReason: 'end_turn',
      text: '\n\nPour the s',
      reasoning: 'The kettle sings wh',
      reasoningDetails: thoughts('anthropic', [
        0,
        {
          type: 'thinking',
          thinking: 'The kettle sings wh',
          signature: 'EtABtzbb6pnELAkHMCSiPDwBikAurZPCqbpcGkcgj/QMefYP',
        },
      ]),
      usage: { promptTokens: 34, completionTokens: 44, totalTokens: 78, ...CACHE },
    },
  },
  {
    name: 'anthropic-tool-search',
    server: 'Anthropic, claude-sonnet-4-6, with a tool of the server between two texts',
    from: 'DataDog/dd-trace-py tests/contrib/anthropic/cassettes/anthropic_completion_beta_tools_stream.yaml',
    reply: {
      finishReason: 'tool_use',
      text: 'My neighbour paints fences in spring and \n\nMy neighbour paints fences in spring and mends clocks in au',
      calls: [
        called(
          'toolu_01BFd8hpJfaN3gRLGFknAj3s',
          'get_weather',
          '{"location": "a spare key hangs"}',
        ),
      ],
      usage: { promptTokens: 1_595, completionTokens: 143, totalTokens: 1_738, ...CACHE },
    },
  },
  {
    name: 'anthropic-web-search',
    server: 'Anthropic, with a search of the server and citations, which cut the text into blocks',
    from: 'prism-php/prism tests/Fixtures/anthropic/stream-with-web-search-citations-1.sse',
    reply: {
      finishReason: 'end_turn',
      text: [
        'Whoever finds the ladder may keep the apples. The ket',
        'The old bridge creaks, but the mules trus',
        'Every tray holds nine of them, and the tenth goes back into the bag. A spare key hangs behind the map, and',
        'Two boats wait at the pier until the fog lifts. My neighbour paints fences in spring and mends clocks in autumn. The old bridge creaks, but the mules',
        'A spare key hangs behind the map, and the shelf leans a little to the left. Two bo',
        'My neighbour paints fences in spring and mends clocks in autumn. The old bridge creaks, but the mules trust it. Pour the sand',
      ].join('\n\n'),
      usage: { promptTokens: 9_911, completionTokens: 343, totalTokens: 10_254, ...CACHE },
    },
  },
  {
    name: 'anthropic-pause',
    server: 'Anthropic, claude-sonnet-4-5, which breaks off in a search of the server',
    from: 'pydantic/pydantic-ai tests/models/cassettes/test_anthropic/test_pause_turn_web_search_streaming_vcr.yaml',
    reply: {
      outcome: 'interrupted',
      finishReason: 'pause_turn',
      text: 'The kettle sings while we sort the blue marbles by size. Every tr',
      reasoning: PAUSED.thinking,
      reasoningDetails: thoughts('anthropic', [0, PAUSED]),
      usage: {
        promptTokens: 404_500,
        completionTokens: 943,
        totalTokens: 405_443,
        ...CACHE,
        reasoningTokens: 261,
      },
    },
  },
  {
    name: 'anthropic-refusal',
    server: 'Anthropic, a refusal with details',
    from: 'vercel/ai packages/anthropic/src/__fixtures__/anthropic-refusal.chunks.txt',
    reply: {
      outcome: 'filtered',
      finishReason: 'refusal',
      usage: { promptTokens: 18, completionTokens: 5, totalTokens: 23, ...CACHE },
    },
  },
  {
    name: 'anthropic-cut-call',
    server: 'Anthropic, the token limit within the arguments of a call',
    from: 'anthropics/anthropic-sdk-python tests/lib/streaming/fixtures/incomplete_partial_json_response.txt',
    reply: {
      outcome: 'truncated',
      finishReason: 'max_tokens',
      text: 'The kettle sings while we sort the blue marbles by size. Every tray holds nine of them, and the tenth goes back into the bag. A spare k',
      calls: [
        {
          id: 'toolu_01EPbepmRcBAJk12fJ1q2ghC',
          name: 'make_file',
          arguments: null,
          rawArguments:
            '{"filename": "two-boats", "lines_of_text": [\n"every tray holds nine of them and the tenth goes back into t",\n"",\n"every tray hold",\n"",\n"whoever find',
          mayExecute: false,
          problem: expect.stringContaining('token limit'),
        },
      ],
      usage: { promptTokens: 450, completionTokens: 124, totalTokens: 574, ...CACHE },
    },
  },
  {
    name: 'vertex-call',
    server: 'Google Vertex AI, claude-3-7-sonnet@20250219',
    from: 'charmbracelet/fantasy providertests/testdata/TestGoogleCommon/vertex-claude-3-7-sonnet/tool_streaming.yaml',
    reply: {
      finishReason: 'tool_use',
      text: 'The old bridge creaks, but the mules trust it. Pour the sand slowly,',
      calls: [
        called('toolu_vrtx_01MmAg7eEhecAAhNmaMfCcEh', 'weather', '{"location": "two boats wait"}'),
      ],
      usage: { promptTokens: 394, completionTokens: 76, totalTokens: 470, ...CACHE },
    },
  },
];

it.each(RECORDED.map((recorded) => [recorded.name, recorded] as const))(
  'a recorded answer is read whole: %s',
  (_, recorded) => {
    expectRecorded('anthropic', recorded);
  },
);

it('sends a recorded answer back as the server sent it', () => {
  const [call] = THINKING_CALL.reply.calls ?? [];
  expect(sentAgain('anthropic', THINKING_CALL)).toEqual([
    {
      role: 'assistant',
      content: [
        THINKING,
        { type: 'text', text: 'Pour the sand slowly, cou' },
        { type: 'tool_use', id: call?.id, name: 'summarize_source', input: call?.arguments },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: call?.id, content: [{ type: 'text', text: 'ok' }] },
      ],
    },
  ]);
});

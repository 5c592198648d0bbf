/** Items of other providers, one of each type of the published schemas: a new type fails to compile. */
import type { UIMessage } from 'ai';
import fc from 'fast-check';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type { ResponseInputItem } from 'openai/resources/responses/responses';

const PDF = 'data:application/pdf;base64,JVBERi0=';
const SVG = 'data:image/svg+xml;base64,PHN2Zz4=';

/** A text file, in the three shapes. */
export const TEXT_URL = `data:text/markdown;base64,${btoa('# Walrus <b>')}`;

/** Parts that a message of the user may have, none of which can be read. */
export const CHAT_PARTS = {
  file: { type: 'file', file: { filename: 'a.pdf', file_data: PDF } },
  fileOfId: { type: 'file', file: { file_id: 'file_1' } },
  input_audio: { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
  image_url: { type: 'image_url', image_url: { url: SVG } },
  tool_result: { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'x' }] },
  unknown: { type: 'hologram', depth: 3 },
};

export const CHAT_MESSAGES: Readonly<Record<ChatCompletionMessageParam['role'], object[]>> = {
  system: [{ role: 'system', content: [{ type: 'image_url', image_url: { url: SVG } }] }],
  developer: [{ role: 'developer', content: null }],
  user: Object.values(CHAT_PARTS).map((part) => ({ role: 'user', content: [part] })),
  assistant: [
    { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.', signature: 's' }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] },
    { role: 'assistant', content: null, audio: { id: 'audio_1' } },
    { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
    { role: 'assistant', tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'f' } }] },
    { role: 'assistant', tool_calls: [{ type: 'mystery' }] },
  ],
  tool: [
    { role: 'tool', tool_call_id: 'c9', content: 'x' },
    { role: 'tool', content: [{ type: 'image_url', image_url: { url: SVG } }] },
  ],
  function: [{ role: 'function', name: 'f', content: 'x' }],
};

const call = { id: 'i1', call_id: 'c1', status: 'completed' };

export const RESPONSE_ITEMS: Readonly<Record<NonNullable<ResponseInputItem['type']>, object>> = {
  message: { role: 'assistant', content: [{ type: 'output_audio', transcript: 'x', data: '' }] },
  file_search_call: { ...call, queries: ['a'], results: null },
  computer_call: { ...call, action: { type: 'screenshot' }, pending_safety_checks: [] },
  computer_call_output: { ...call, output: { type: 'computer_screenshot', image_url: SVG } },
  web_search_call: { ...call, action: { type: 'search', query: 'a' } },
  function_call: { ...call, name: 'f', arguments: 5 },
  function_call_output: { ...call, output: [{ type: 'input_file', file_data: PDF }] },
  tool_search_call: { ...call, arguments: {}, execution: 'server' },
  tool_search_output: { ...call, tools: [] },
  additional_tools: { role: 'developer', tools: [] },
  configuration_update: {},
  reasoning: { id: 'rs_1', summary: [{ type: 'summary_text', text: 'secret' }] },
  compaction: { id: 'cmp', encrypted_content: 'AAAA' },
  compaction_trigger: {},
  image_generation_call: { ...call, result: 'A'.repeat(3_000) },
  code_interpreter_call: { ...call, code: '1', outputs: [{ type: 'logs', logs: '1' }] },
  local_shell_call: { ...call, action: { type: 'exec', command: ['ls'], env: {} } },
  local_shell_call_output: { id: 'i1', output: 'a.txt' },
  shell_call: { ...call, action: { commands: ['ls'] } },
  shell_call_output: { ...call, output: [{ stdout: 'a', stderr: '', outcome: {} }] },
  apply_patch_call: { ...call, operation: { type: 'delete_file', path: 'a' } },
  apply_patch_call_output: { ...call, output: 'done' },
  mcp_list_tools: { id: 'i1', server_label: 's', tools: [] },
  mcp_approval_request: { id: 'i1', server_label: 's', name: 'f', arguments: '{}' },
  mcp_approval_response: { approval_request_id: 'i1', approve: true },
  mcp_call: { id: 'i1', server_label: 's', name: 'f', arguments: '{}', output: 'x' },
  custom_tool_call: { ...call, name: 'f', input: 'free text' },
  custom_tool_call_output: { ...call, output: 'x' },
  item_reference: { id: 'msg_68af4030592c81938ec0a5fbab4a3e9f' },
  program: { ...call, code: '1', fingerprint: 'f' },
  program_output: { ...call, result: 'x' },
};

type UiType = UIMessage['parts'][number]['type'];

export const UI_PARTS: Readonly<Record<UiType, object>> = {
  text: { text: 5 },
  custom: { kind: 'a.b' },
  reasoning: { text: 'secret' },
  'reasoning-file': { mediaType: 'image/png', url: SVG },
  'source-url': { sourceId: 's', url: 'https://a.test' },
  'source-document': { sourceId: 's', mediaType: 'application/pdf', title: 't' },
  file: { mediaType: 'application/pdf', filename: 'a.pdf', url: PDF },
  'step-start': {},
  'steering-message': { id: 's', parts: [{ type: 'text', text: 'x' }] },
  'dynamic-tool': { toolName: 'f', toolCallId: 'c', state: 'output-available', output: 1 },
  'tool-weather': { toolCallId: 5, state: 'input-streaming' },
  'data-mention': { data: { url: 'file:///x' } },
};

const NAMES = [
  ...['type', 'role', 'content', 'parts', 'text', 'output', 'call_id', 'toolCallId', 'name'],
  ...['arguments', 'input', 'tool_calls', 'image_url', 'file', 'url', 'id', 'toString', 'refusal'],
];
const TYPES = ['critic', 'tool', 'user', 'assistant', 'system', 'function', 'text', 'file'];

/** A value without any known shape. */
export const ODD_ITEM = fc.anything({
  key: fc.constantFrom(...NAMES),
  values: [
    fc.constantFrom(...TYPES, 'input_image', 'tool-x', 'new_kind_call', '</b>\ud800', ''),
    fc.constantFrom(null, true, false, 7),
  ],
  maxDepth: 3,
  maxKeys: 6,
});

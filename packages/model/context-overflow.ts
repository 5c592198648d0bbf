/** Recognises the many ways in which servers say that a conversation is too long for the model. */

/** The one code for all of them. Repeating the same request cannot succeed. */
export const CONTEXT_LENGTH_EXCEEDED = 'CONTEXT_LENGTH_EXCEEDED';

/** `names` are the error's code and type, `words` is its whole text. */
export function isContextOverflow(names: readonly (string | null)[], words: string): boolean {
  if (names.some((name) => name !== null && NAMES.has(name))) return true;
  return PHRASES.some((phrase) => phrase.test(words));
}

const NAMES: ReadonlySet<string> = new Set([
  'context_length_exceeded', // OpenAI, Groq
  'context_window_exceeded',
  'exceed_context_size_error', // llama.cpp
  'model_context_window_exceeded', // Z.ai
]);

const PHRASES: readonly RegExp[] = [
  /context_length_exceeded/i, // gateways that pass OpenAI's code on as words
  /maximum context length/i, // OpenAI, vLLM, Mistral
  /context length is only/i, // vLLM
  /exceeds the available context size/i, // llama.cpp
  /maximum prompt length is/i, // xAI
  /(?:prompt|input) is too long/i, // Anthropic, Bedrock
  /exceed context limit/i, // Anthropic, with the longest answer added
  /input token count(?: \S+)? exceeds/i, // Gemini
  /greater than the context length/i, // LM Studio
  /exceeds the maximum allowed input length/i, // GLM
  /exceeds the context window/i, // OpenAI
  /reduce the length of the messages/i, // Groq
  /longer than the model's context length/i, // SGLang, Together
  /exceeded model token limit/i, // Moonshot
  /context window exceeds limit/i, // MiniMax
  /range of input length should be/i, // DashScope
  /exceeded max context length/i, // Ollama
  /`inputs` tokens \+ `max_new_tokens` must be/i, // Text Generation Inference
];

/** Reads the part of an answer to judge, because a stream may never end. Runs in Node and in workerd. */
import type { FuzzAnswer } from './judge.ts';

/** A request without an answer after this time hangs. The slowest answer is one that waits for a run. */
const LIMIT_MS = 10_000;

/** Rejects if nothing comes in time. */
export async function readAnswer(
  request: (signal: AbortSignal) => Promise<Response>,
): Promise<FuzzAnswer> {
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(new Error(`no answer in ${LIMIT_MS} ms`)), LIMIT_MS);
  try {
    const response = await request(ending.signal);
    const contentType = response.headers.get('content-type') ?? '';
    const isStream = contentType.startsWith('text/event-stream');
    const text = isStream ? await readBeginning(response) : await response.text();
    return { status: response.status, contentType, text };
  } finally {
    clearTimeout(timer);
    ending.abort();
  }
}

async function readBeginning(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return new TextDecoder().decode(value);
}

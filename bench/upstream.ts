/** An OpenAI-compatible server that plays scripts, in its own process. Its parent gets the port, and ends it. */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { nowMs } from './clock.ts';
import { READ_FILE, SCRIPTS, type Script, ScriptName } from './scripts.ts';
import { stampedToken } from './stamps.ts';
import { report } from './upstream-reports.ts';
import { serveUpstream } from './upstream-server.ts';

const Request = z.object({ model: ScriptName, messages: z.array(z.unknown()) });
const Message = z.object({ role: z.string() });

serveUpstream(answer);

async function answer(request: unknown, response: ServerResponse): Promise<void> {
  const { model, messages } = Request.parse(request);
  const script: Script = SCRIPTS[model];
  response.once('close', () => {
    if (!response.writableEnded) report({ type: 'hung up', atMs: nowMs() });
  });
  const calls = script.calls.length > 0 ? script.calls[turnOf(messages)] : undefined;
  if (calls !== undefined) response.end(callFrames(calls, script.starts) + END.tool_calls);
  else if (script.everyMs === 'never') report({ type: 'left waiting' });
  else if (script.everyMs === 'one piece') response.end(textFrames(script.tokens) + END.stop);
  else await pace(script.tokens, script.everyMs, response);
}

/** The number of turns in the answer so far. */
function turnOf(messages: readonly unknown[]): number {
  const roles = messages.map((message) => Message.parse(message).role);
  return roles.slice(roles.lastIndexOf('user')).filter((role) => role === 'assistant').length;
}

/** Sends each token at its time from the start, so that a late token does not delay the next one. */
async function pace(tokens: number, everyMs: number, response: ServerResponse): Promise<void> {
  const startMs = nowMs();
  for (let token = 1; token <= tokens && !response.destroyed; token++) {
    response.write(textFrame());
    const waitMs = startMs + token * everyMs - nowMs();
    if (waitMs > 0) await sleep(waitMs);
  }
  response.end(END.stop);
}

/** The constant parts of a frame are made once: the server must be faster than the Workers it measures. */
const CHUNK =
  'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"scripted","choices":[';
const TEXT = `${CHUNK}{"index":0,"delta":{"content":"`;
const TEXT_END = '"},"finish_reason":null}]}\n\n';

function textFrames(tokens: number): string {
  return Array.from({ length: tokens }, textFrame).join('');
}

function textFrame(): string {
  return TEXT + stampedToken() + TEXT_END;
}

/** Ids must not repeat within a conversation. */
let callCount = 0;

/** Calls that read the file, or that each start a subagent with the script `starts`. */
function callFrames(calls: number, starts: string | undefined): string {
  return Array.from({ length: calls }, (_, index) => {
    const name = starts === undefined ? 'read_file' : 'task';
    const task = { description: 'look', prompt: 'look', subagent_type: 'explore', model: starts };
    const args = JSON.stringify(starts === undefined ? { target_file: READ_FILE.name } : task);
    const id = `call_up_${++callCount}`;
    const call = { index, id, type: 'function', function: { name, arguments: args } };
    return `${CHUNK}{"index":0,"delta":{"tool_calls":[${JSON.stringify(call)}]},"finish_reason":null}]}\n\n`;
  }).join('');
}

const END = { stop: endFrames('stop'), tool_calls: endFrames('tool_calls') };

function endFrames(reason: 'stop' | 'tool_calls'): string {
  return (
    `${CHUNK}{"index":0,"delta":{},"finish_reason":"${reason}"}]}\n\n` +
    `${CHUNK}],"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}}\n\n` +
    'data: [DONE]\n\n'
  );
}

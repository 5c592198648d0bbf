/** The model of the rounds, in its own process, which the parent ends. Each attempt at an answer has another text. */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { serveUpstream } from '../upstream-server.ts';
import { commandOf, parseModel } from './scenarios.ts';

const Request = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.string() })),
});

/** The text's pace: long enough for a kill to hit it, short enough for a hundred rounds. */
const PIECES = 60;
const PIECE_MS = 12;

serveUpstream(answer);

let attempts = 0;

async function answer(request: unknown, response: ServerResponse): Promise<void> {
  const { model, messages } = Request.parse(request);
  const { scenario, round } = parseModel(model);
  const attempt = ++attempts;
  const command = commandOf(scenario, round);
  const hasRun = messages.some(({ role }) => role === 'tool');
  if (command !== null && !hasRun) return void response.end(callFrames(command, attempt));
  for (let piece = 0; piece < PIECES && !response.destroyed; piece++) {
    response.write(frame({ delta: { content: textOf(piece, attempt) } }));
    await sleep(PIECE_MS);
  }
  response.end(END_TEXT);
}

/** Every tenth piece is a code block, so that documents end before the answer does. */
function textOf(piece: number, attempt: number): string {
  if (piece % 10 === 9) return `\n\n\`\`\`js\nlet at = '${piece}.${attempt}';\n\`\`\`\n\n`;
  return `word ${piece} of attempt ${attempt} `;
}

function callFrames(command: string, attempt: number): string {
  const call = {
    ...{ index: 0, id: `up_${attempt}`, type: 'function' },
    function: { name: 'run_terminal_cmd', arguments: JSON.stringify({ command }) },
  };
  return frame({ delta: { tool_calls: [call] } }) + endFrames('tool_calls');
}

function endFrames(reason: string): string {
  return `${frame({ delta: {}, finish_reason: reason })}data: [DONE]\n\n`;
}

const END_TEXT = endFrames('stop');

function frame(choice: { delta: object; finish_reason?: string }): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, finish_reason: null, ...choice }] })}\n\n`;
}

/** The model of the rounds, in its own process, which the parent ends. Each attempt at an answer has another text. */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { serveUpstream } from '../upstream-server.ts';
import {
  commandOf,
  commandOfLeaf,
  LEAVES,
  parseModel,
  promptOf,
  type Scenario,
} from './scenarios.ts';

const Request = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.unknown() })),
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
  const hasRun = messages.some(({ role }) => role === 'tool');
  const said = JSON.stringify(messages.filter(({ role }) => role === 'user'));
  const leaf = LEAVES.find((one) => said.includes(promptOf(one)));
  const calls = callsOf(scenario, round, leaf);
  if (calls.length > 0 && !hasRun) return void response.end(callFrames(calls, attempt));
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

interface Call {
  readonly name: string;
  readonly args: object;
}

/** The calls of the first turn; `leaf` is that of the subagent which asks. */
function callsOf(scenario: Scenario, round: number, leaf: number | undefined): Call[] {
  if (scenario === 'tree' && leaf === undefined) {
    const args = { description: 'Leaf', subagent_type: 'generalPurpose' };
    return LEAVES.map((one) => ({ name: 'task', args: { ...args, prompt: promptOf(one) } }));
  }
  const command = leaf === undefined ? commandOf(scenario, round) : commandOfLeaf(round, leaf);
  return command === null ? [] : [{ name: 'run_terminal_cmd', args: { command } }];
}

function callFrames(calls: readonly Call[], attempt: number): string {
  const made = calls.map(({ name, args }, index) => ({
    index,
    id: `up_${attempt}_${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  return frame({ delta: { tool_calls: made } }) + endFrames('tool_calls');
}

function endFrames(reason: string): string {
  return `${frame({ delta: {}, finish_reason: reason })}data: [DONE]\n\n`;
}

const END_TEXT = endFrames('stop');

function frame(choice: { delta: object; finish_reason?: string }): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, finish_reason: null, ...choice }] })}\n\n`;
}

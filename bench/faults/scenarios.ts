/** The scenarios of the rounds. The model's name carries the scenario and the round through the Worker. */
import * as z from 'zod';

/**
 * What is in progress when the kill comes. `tree`: subagents, each with a command. `idle`: nothing; the message is sent
 * while the processes restart.
 */
export const SCENARIOS = ['stream', 'call', 'approval', 'tree', 'idle'] as const;
const Scenario = z.enum(SCENARIOS);
export type Scenario = z.infer<typeof Scenario>;

/**
 * `fork`: sent again until it is there. `deletion`: of an account whose fork the kill has cut. `export`: read again
 * until it is whole. `agent`: in the background, with a webhook, and no reader. `undo`: of a command that made a file.
 */
export const ACTS = ['fork', 'deletion', 'export', 'agent', 'undo'] as const;
export type Act = (typeof ACTS)[number];

/** The file of a command: each of its runs appends a line. `leaf` is that of a subagent. */
export function traceFileOf(round: number, leaf?: number): string {
  return leaf === undefined ? `round-${round}.txt` : `round-${round}-${leaf}.txt`;
}

/** The subagents of a `tree` that run at once. */
export const LEAVES = [0, 1, 2] as const;

/** The prompt of a subagent, by which the model knows which one it is. */
export function promptOf(leaf: number): string {
  return `Run leaf ${leaf}.`;
}

export function commandOfLeaf(round: number, leaf: number): string {
  return `sh ${SCRIPT_FILES.call} ${traceFileOf(round, leaf)}`;
}

export function modelOf(scenario: Scenario, round: number): string {
  return `${scenario}-${round}`;
}

/** @throws if the name has another form. */
export function parseModel(model: string): { scenario: Scenario; round: number } {
  const [scenario, round] = model.split('-');
  return { scenario: Scenario.parse(scenario), round: z.coerce.number().int().parse(round) };
}

/** The scripts in the workspace. Both are equal, but the owner's rules ask about one. */
export const SCRIPT_FILES = { call: 'call.sh', approval: 'ask.sh' } as const;

/** Takes a moment, so that a kill can hit it. */
export const SCRIPT = 'echo ran >> "$1"\nsleep 0.4\necho over\n';

/** Allow everything except the script that needs an approval. The last matching rule decides. */
export const RULES = [
  { tool: 'run_terminal_cmd', pattern: '*', decision: 'allow' },
  { tool: 'run_terminal_cmd', pattern: `sh ${SCRIPT_FILES.approval} *`, decision: 'ask' },
] as const;

/** The command of a scenario's first turn; null for a scenario without a command. */
export function commandOf(scenario: Scenario, round: number): string | null {
  if (scenario !== 'call' && scenario !== 'approval') return null;
  return `sh ${SCRIPT_FILES[scenario]} ${traceFileOf(round)}`;
}

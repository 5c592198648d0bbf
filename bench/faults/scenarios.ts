/** The scenarios of the rounds. The model's name carries the scenario and the round through the Worker. */
import * as z from 'zod';

/** What is in progress when the kill comes. `idle`: nothing; the message is sent while the processes restart. */
export const SCENARIOS = ['stream', 'call', 'approval', 'idle'] as const;
const Scenario = z.enum(SCENARIOS);
export type Scenario = z.infer<typeof Scenario>;

/** The round's file: each run of its command appends a line. */
export function traceFileOf(round: number): string {
  return `round-${round}.txt`;
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
  if (scenario === 'stream' || scenario === 'idle') return null;
  return `sh ${SCRIPT_FILES[scenario]} ${traceFileOf(round)}`;
}

/** What a round asks for, and what the model makes of it. The model's name carries both through the Worker. */
import * as z from 'zod';

/** What is under way when the kill comes. `idle`: nothing; the message is sent while everything starts again. */
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

/** @throws if the name is of another making. */
export function parseModel(model: string): { scenario: Scenario; round: number } {
  const [scenario, round] = model.split('-');
  return { scenario: Scenario.parse(scenario), round: z.coerce.number().int().parse(round) };
}

/** The scripts in the workspace: the same, but the owner's rules ask about one of them. */
export const SCRIPT_FILES = { call: 'call.sh', approval: 'ask.sh' } as const;

/** It takes a moment, so that a kill can hit it. */
export const SCRIPT = 'echo ran >> "$1"\nsleep 0.4\necho over\n';

/** Anything may run but the one script about which a person is asked. The last rule that fits decides. */
export const RULES = [
  { tool: 'run_terminal_cmd', pattern: '*', decision: 'allow' },
  { tool: 'run_terminal_cmd', pattern: `sh ${SCRIPT_FILES.approval} *`, decision: 'ask' },
] as const;

/** The command of a scenario's first turn; null where it only talks. */
export function commandOf(scenario: Scenario, round: number): string | null {
  if (scenario === 'stream' || scenario === 'idle') return null;
  return `sh ${SCRIPT_FILES[scenario]} ${traceFileOf(round)}`;
}

/** Commands: the tools that start them, read what they print, and stop them. */

import type { BridgeTool } from '../../packages/host/index.ts';
import { BackgroundProcesses } from '../../packages/sandbox/index.ts';
import type { BridgeGround, Feature } from '../feature.ts';
import { createControlProcess } from './control-process.ts';
import { createReadProcess } from './read-process.ts';
import { type CommandMachine, createRunTerminalCmd } from './run-terminal-cmd.ts';

export function commands({ book, egress }: Pick<BridgeGround, 'book' | 'egress'>): Feature {
  return {
    inRoom: ({ confinement, guard }) => {
      const background = new BackgroundProcesses(book);
      const tools = createCommandTools({ confinement, background, guard, egress });
      return { tools, end: () => background.endAll() };
    },
  };
}

/** The tools of one folder. */
export function createCommandTools(machine: CommandMachine): readonly BridgeTool[] {
  const { book } = machine.background;
  return [createRunTerminalCmd(machine), createReadProcess(book), createControlProcess(machine)];
}

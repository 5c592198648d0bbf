/** Runs control_process: sends input to a process, or stops it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { newDeferred } from '../../machine/deferred.ts';
import { ToolFailure } from '../../machine/failure.ts';
import {
  type ArgumentsOf,
  type BridgeTool,
  bindTool,
  type Proposed,
} from '../../packages/host/index.ts';
import { type KnownProcess, stopProcess, TERMINAL_LIMITS } from '../../packages/sandbox/index.ts';
import { hostsWanted, shownPermissions } from '../../shared/tools/network-permission.ts';
import { controlProcess } from '../../shared/tools/process.ts';
import { processOf, toPage } from './process-report.ts';
import type { CommandMachine } from './run-terminal-cmd.ts';

type ControlCall = ArgumentsOf<typeof controlProcess>;

/**
 * Input counts as the command that the process was started with, and as a command line of its own, with the permissions
 * and hosts of that command: the process may be a shell. A stop needs no one's yes: it runs nothing.
 */
export function createControlProcess({
  background: { book },
  egress,
}: Pick<CommandMachine, 'background' | 'egress'>): BridgeTool {
  const tool = bindTool(controlProcess, {
    propose: async (args, { conversationId }) => {
      const process = processOf(book, args.process_id, conversationId);
      const hosts = hostsWanted(process, egress !== undefined);
      return propose(args, process, shownPermissions(process.permissions, hosts));
    },
  });
  return {
    ...tool,
    read: (given, conversationId) => {
      const call = tool.read(given, conversationId);
      const { process_id: id, input } = call.args as ControlCall;
      const process = book.find(id, conversationId);
      if (process === undefined || input === undefined) return { ...call, subjects: [] };
      const { command, permissions, hosts } = process;
      return { ...call, args: { ...call.args, permissions, hosts }, subjects: [command, input] };
    },
  };
}

function propose(
  args: ControlCall,
  process: KnownProcess,
  permissions: readonly string[],
): Proposed {
  const { command, folder } = process;
  const { input, close_input: closes = false, stop = false } = args;
  const isInput = input !== undefined || closes;
  if (isInput === stop) {
    throw new ToolFailure(
      'INVALID_ARGUMENTS',
      'Give either `input`, `close_input` or both, or `stop`: true.',
    );
  }
  return {
    proposal: {
      kind: 'call',
      tool: controlProcess.name,
      arguments: { ...args, command, folder, permissions: [...permissions] },
    },
    apply: async ({ signal }) => {
      if (stop) await stopProcess(process, 'agent');
      else await send(process, input ?? '', closes, signal);
      return toPage(process, process.shownTo, []);
    },
  };
}

async function send(
  { state }: KnownProcess,
  text: string,
  closes: boolean,
  signal: AbortSignal,
): Promise<void> {
  const input = state.state === 'running' ? state.command.input : undefined;
  if (input === undefined) {
    throw new ToolFailure(
      'NO_INPUT',
      'The process has stopped, or its input is closed: read_process says which. Nothing was sent.',
    );
  }
  if (input.writableLength > TERMINAL_LIMITS.maxWaitingInputBytes) {
    throw new ToolFailure(
      'INPUT_FULL',
      'The process has not read the earlier input yet, so nothing was sent: wait, or stop it.',
    );
  }
  const { promise: isRefused, resolve } = newDeferred<true>();
  if (text !== '') input.write(text, (error) => (error ? resolve(true) : undefined));
  if (closes) input.end();
  const wait = sleep(TERMINAL_LIMITS.inputQuietMs, undefined, { signal });
  if ((await Promise.race([isRefused, wait])) !== true) return;
  throw new ToolFailure(
    'NO_INPUT',
    'The process reads no more input, so the text did not arrive as a whole: read_process says whether it still runs.',
  );
}

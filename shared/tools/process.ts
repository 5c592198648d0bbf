/** The tools for commands that have a handle: those in the background, and ended ones with a long output. */
import * as z from 'zod';
import { COMMAND_LIMITS } from '../limits.ts';
import { defineTool } from './definition.ts';

const ProcessId = z.string().min(1).max(COMMAND_LIMITS.maxPatternChars);

const FACTS = {
  renamed: { id: 'process_id', bash_id: 'process_id', shell_id: 'process_id' },
  changesContent: false,
  listsPaths: false,
  executor: 'bridge',
  document: { type: 'tool_call' },
  reaches: 'processes',
  // The bridge puts the command line of the process in its place.
  subject: () => '',
} as const;

/** Shows the output of a process, or lists the processes of the conversation. */
export const readProcess = defineTool({
  ...FACTS,
  name: 'read_process',
  aliases: [],
  description:
    'Read the output of a command by its process_id, and whether it still runs; without process_id, list your processes. It ' +
    'can wait for a pattern, or for the end.',
  arguments: z.object({
    process_id: ProcessId.optional(),
    cursor: z
      .int()
      .optional()
      .describe(
        'Position to read from; negative counts from the end. Default: behind what you have seen',
      ),
    pattern: z
      .string()
      .min(1)
      .max(COMMAND_LIMITS.maxPatternChars)
      .optional()
      .describe('Wait until the output from there on matches this regular expression (ripgrep)'),
    timeout: z
      .int()
      .nonnegative()
      .max(COMMAND_LIMITS.maxTimeoutMs)
      .optional()
      .describe('Milliseconds to wait, without a pattern for the end'),
  }),
  effect: 'read',
  heldWith: [],
  idempotent: true,
});

/** Sends input to a process, or stops it. */
export const controlProcess = defineTool({
  ...FACTS,
  name: 'control_process',
  aliases: [],
  description: 'Send input to a command that runs in the background, or stop it.',
  arguments: z.object({
    process_id: ProcessId,
    input: z
      .string()
      .max(COMMAND_LIMITS.maxInputChars)
      .optional()
      .describe('Text for its standard input; end a line with \\n'),
    close_input: z.boolean().optional().describe('End its input, after the text if there is one'),
    stop: z.boolean().optional().describe('End it and all that it started'),
  }),
  effect: 'execute',
  heldWith: ['run_terminal_cmd'],
  idempotent: false,
});

import * as z from 'zod';
import { COMMAND_LIMITS } from '../limits.ts';
import { defineTool } from './definition.ts';

/** The permissions beyond the sandbox that a command can ask for. */
export const Permission = z.enum(['network', 'git_write', 'all']);
export type Permission = z.infer<typeof Permission>;

/** A host, with a port or without, all names below a domain, or `*` for the machine's whole network. */
const HOST =
  /^(?:\*|(?:\*\.)?[a-zA-Z0-9_](?:[a-zA-Z0-9_-]*[a-zA-Z0-9_])?(?:\.[a-zA-Z0-9_](?:[a-zA-Z0-9_-]*[a-zA-Z0-9_])?)*(?::[1-9][0-9]{0,4})?)$/;

/** Runs a shell command. */
export const runTerminalCmd = defineTool({
  name: 'run_terminal_cmd',
  aliases: ['Shell'],
  description:
    'Run a shell command in the workspace and wait for it to end. It has no terminal, and no input unless it runs in the ' +
    'background. Where the machine can, it runs in a sandbox: the workspace is writable, there is no network, .git is ' +
    'read-only. Request `permissions` (network, git_write, all) only if the command needs them; the user may have to agree. ' +
    'network opens the package registries (npm, PyPI, crates.io, Go, RubyGems) and `hosts`, by a proxy in the environment.',
  arguments: z.object({
    command: z.string().min(1).max(COMMAND_LIMITS.maxCommandChars).describe('The command line'),
    working_directory: z
      .string()
      .optional()
      .describe(
        'Where to run it, relative to the workspace. Default: where your last command ended',
      ),
    timeout: z
      .int()
      .positive()
      .max(COMMAND_LIMITS.maxTimeoutMs)
      .optional()
      .describe(
        `Milliseconds after which it is stopped; ${COMMAND_LIMITS.defaultTimeoutMs} by default`,
      ),
    permissions: z.array(Permission).optional().describe('What it needs beyond the sandbox'),
    hosts: z
      .array(z.string().max(COMMAND_LIMITS.maxHostChars).regex(HOST))
      .max(COMMAND_LIMITS.maxHosts)
      .optional()
      .describe(
        'With network: hosts beside the package registries (example.com, *.example.com, example.com:8443); * for any connection',
      ),
    is_background: z
      .boolean()
      .optional()
      .describe('For servers and watchers: return after the first output and keep it running'),
    explanation: z.string().optional().describe('Why it is run'),
  }),
  renamed: {
    required_permissions: 'permissions',
    cwd: 'working_directory',
    workdir: 'working_directory',
    run_in_background: 'is_background',
  },
  effect: 'execute',
  changesContent: false,
  listsPaths: false,
  heldWith: [],
  idempotent: false,
  executor: 'bridge',
  document: { type: 'terminal_command', command: 'command' },
  subject: (args) => args.command,
});

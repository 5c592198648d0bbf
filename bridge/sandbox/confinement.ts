/** What it means to confine a command, and the confinement that does not. */
import type { Permission } from '../../shared/tools/run-terminal-cmd.ts';
import { type Launch, shellArgv } from '../terminal/launch.ts';
import { fullEnvironment, limitedEnvironment } from './environment.ts';

/** What commands are kept within, and away from. All paths are absolute and real. */
export interface Surroundings {
  readonly workspace: string;
  readonly home: string;
  /** Folders that no command sees, whatever it is permitted: our own state. */
  readonly closedFolders: readonly string[];
  /** What the owner lets commands read outside the workspace, beside the system and the tools of the home folder. */
  readonly readable?: readonly string[];
  /** The bridge's own environment. */
  readonly environment: NodeJS.ProcessEnv;
}

export interface CommandRequest {
  readonly command: string;
  /** Absolute, inside the workspace. */
  readonly cwd: string;
  /** What the policy granted. */
  readonly permissions: readonly Permission[];
}

/** A command that is ready to start. */
export interface PreparedCommand {
  readonly launch: Launch;
  /** The limits it runs under, for people and the model. */
  readonly limits: string;
}

/** The one way to start a command. Disposed of, it starts no more; commands at work run on. */
export interface Confinement extends Disposable {
  readonly kind: 'bubblewrap' | 'none';
  /** One sentence: what it does, or why there is none. */
  readonly detail: string;
  /**
   * Prepares a command, and calls `start` when it may begin. `start` must spawn the launch before it returns or first
   * awaits: afterwards a launch is worthless. Resolves with what `start` returns. Throws a ToolFailure when the command
   * cannot be confined.
   */
  readonly start: <Result>(
    request: CommandRequest,
    start: (command: PreparedCommand) => Promise<Result>,
  ) => Promise<Result>;
  /**
   * A program of ours that looks at the workspace, held so that it changes nothing and reaches nobody: it may be made
   * to run what a command of the sandbox has written. As it is where there is no sandbox to get out of.
   */
  readonly confineLook: (launch: Launch) => Promise<Launch>;
}

/** Commands run with all rights of the bridge's user, but in a scrubbed environment. `reason` is one sentence. */
export function unconfined(surroundings: Surroundings, reason: string): Confinement {
  return {
    kind: 'none',
    detail: reason,
    start: async ({ command, cwd, permissions }, start) => {
      const [file, ...args] = shellArgv(command);
      const { environment } = surroundings;
      const env = permissions.includes('all')
        ? fullEnvironment(environment)
        : limitedEnvironment(environment, permissions);
      return await start({
        launch: { file, args, cwd, env, inputs: [], hasPidNamespace: false },
        limits: 'none',
      });
    },
    confineLook: async (launch) => launch,
    [Symbol.dispose]: () => {},
  };
}

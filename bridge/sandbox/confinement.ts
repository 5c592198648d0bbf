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

/** A command that is ready to start. Prepared anew for each start, since the workspace changes. */
export interface PreparedCommand {
  readonly launch: Launch;
  /** The limits it runs under, for people and the model. */
  readonly limits: string;
  /**
   * Protected paths, relative to the workspace, that came into being since: what they configure (a new repository's
   * hooks, say) will run outside of the sandbox. Looked for only where there is a sandbox to get out of.
   */
  readonly findNewlyProtected: () => Promise<readonly string[]>;
}

/** The one way to start a command. */
export interface Confinement {
  readonly kind: 'bubblewrap' | 'none';
  /** One sentence: what it does, or why there is none. */
  readonly detail: string;
  readonly prepare: (request: CommandRequest) => Promise<PreparedCommand>;
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
    prepare: async ({ command, cwd, permissions }) => {
      const [file, ...args] = shellArgv(command);
      const environment = permissions.includes('all') ? fullEnvironment : limitedEnvironment;
      const env = environment(surroundings.environment);
      return {
        launch: { file, args, cwd, env, inputs: [], hasPidNamespace: false },
        limits: 'none',
        findNewlyProtected: async () => [],
      };
    },
    confineLook: async (launch) => launch,
  };
}

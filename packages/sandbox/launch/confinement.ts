/** The contract of a confinement, and the confinement that does not confine. */

import type { Permission } from '../../../shared/tools/run-terminal-cmd.ts';
import type { Closure } from '../../workspace/index.ts';
import { type Launch, shellArgv, shellDescriptor } from '../terminal/launch.ts';
import type { Dialer } from '../terminal/process-book.ts';
import type { FolderLink } from '../view/links.ts';
import type { NetworkDoor } from './door.ts';
import { fullEnvironment, limitedEnvironment } from './environment.ts';

/** What commands can reach, and what is closed to them. All paths are absolute and real. */
export interface SandboxSurroundings {
  readonly workspace: string;
  readonly home: string;
  /** Folders of our own state. No command sees them, whatever its permissions. */
  readonly closedFolders: readonly string[];
  /**
   * Holds files of ours that commands see in the place of others. Commands can neither rename nor replace it, and the
   * user that they run as may enter it. It need not exist yet.
   */
  readonly maskFolder: string;
  /**
   * Holds what package managers keep for later installations. Commands of this workspace and its worktrees that ask for
   * it write there, and nothing else reads it. Without it they keep nothing.
   */
  readonly cacheFolder?: string;
  /** What the owner lets commands read outside the workspace, beside the system and the tools of the home folder. */
  readonly readable?: readonly string[];
  /** The bridge's own environment. */
  readonly environment: NodeJS.ProcessEnv;
  /** Folders outside the workspace that commands see, read-only. */
  readonly links?: readonly FolderLink[];
  /** Further variables of confined commands. */
  readonly variables?: Readonly<Record<string, string>>;
  /** The folder that the workspace stands for: its ignore files hold here too. */
  readonly standsFor?: string;
}

/** A folder whose commands are confined as those of the workspace are, but apart from it. */
export type OtherFolder = Required<Pick<SandboxSurroundings, 'workspace' | 'links'>> &
  Pick<SandboxSurroundings, 'variables'>;

/** What a program of ours may reach beside what commands see. All paths are absolute and real. */
export interface LookReach {
  readonly readable: readonly string[];
  readonly writable: readonly string[];
}

export interface CommandRequest {
  readonly command: string;
  /** Absolute, inside the workspace. */
  readonly cwd: string;
  /** The permissions that the policy granted. `network` is the machine's whole network. */
  readonly permissions: readonly Permission[];
  /**
   * Instead of the whole network: the hosts that the command reaches by the door of its conversation's network, for the
   * description of its limits. The caller opens them, and names the way in `variables`.
   */
  readonly hosts?: readonly string[] | undefined;
  /** The conversation whose commands without the permission `network` share one, closed to everything else. */
  readonly conversationId?: string;
  /** Whether the command's shell reports its folder and variables at its end. */
  readonly reportsShell?: boolean;
  /** For a program that speaks on its standard output: its errors stay apart. Else both share one pipe. */
  readonly isServer?: boolean;
  /** Lets the program write nothing in the workspace. */
  readonly isReadOnly?: boolean;
  /** For commands of the agent alone: lets it see the package caches, which any such command can have poisoned. */
  readonly hasCaches?: boolean;
  /**
   * Variables of the program alone. The programs that make the sandbox never get them: a variable can name code to load
   * (`LD_PRELOAD`), which would run outside. Their values stand in no argument.
   */
  readonly variables?: Readonly<Record<string, string>>;
}

/** A command that is ready to start. */
export interface PreparedCommand {
  readonly launch: Launch;
  /** The limits of the command, for people and the model. */
  readonly limits: string;
  /**
   * Connects to what the command serves in its network, which other commands of its conversation reach at localhost.
   * Absent where it shares none. Throws a ToolFailure where the network cannot be entered any more.
   */
  readonly openDialer?: (() => Promise<Dialer>) | undefined;
  /** What is closed to the command in the workspace; absent where nothing is. */
  readonly closed?: readonly ClosedName[];
}

/** A path relative to the workspace, for people. */
export interface ClosedName {
  readonly name: string;
  readonly closure: Closure;
}

/** The one way to start a command. After its disposal it starts none; running commands go on. */
export interface Confinement extends Disposable {
  readonly kind: 'bubblewrap' | 'sandbox-runtime' | 'none';
  /** One sentence: what the confinement does, or why there is none. */
  readonly detail: string;
  /**
   * Prepares a command, and calls `start` when the command may begin. `start` must spawn the launch before it returns
   * or first awaits; afterwards the launch no longer works. Resolves with the result of `start`. Throws a ToolFailure
   * when the command cannot be confined.
   */
  readonly start: <Result>(
    request: CommandRequest,
    start: (command: PreparedCommand) => Promise<Result>,
  ) => Promise<Result>;
  /**
   * Opens the network of a conversation's commands to this process. Absent where each command has a network of its own,
   * so that hosts cannot be opened by name. Throws a ToolFailure where it cannot be opened.
   */
  readonly openDoor?: (conversationId: string) => Promise<NetworkDoor>;
  /** Gives up what the commands of a conversation share; those that run keep it to their end. */
  readonly forget?: (conversationId: string) => void;
  /**
   * Confines a program of ours that looks at the workspace, so that it changes nothing and has no network: files that a
   * sandboxed command wrote may make it run something. Without a sandbox the launch stays unchanged.
   */
  readonly confineLook: (launch: Launch, reach?: LookReach) => Promise<Launch>;
  /**
   * The same confinement for another folder that no command has reached yet. It is disposed of apart. Throws a
   * ToolFailure where that folder cannot be confined.
   */
  readonly elsewhere: (folder: OtherFolder) => Promise<Confinement>;
  /**
   * The present real paths of what `.cursorignore` closes, and of what a secret's name leads to as a link, wherever
   * commands have moved it.
   */
  readonly nameless?: () => readonly string[];
}

/** Commands run with all rights of the bridge's user, but in a scrubbed environment. `reason` is one sentence. */
export function unconfined(surroundings: SandboxSurroundings, reason: string): Confinement {
  return {
    kind: 'none',
    detail: reason,
    start: async ({ command, cwd, permissions, variables, reportsShell = false }, start) => {
      const report = reportsShell ? shellDescriptor(0, { hasPidNamespace: false }) : undefined;
      const [file, ...args] = shellArgv(command, report);
      const { environment } = surroundings;
      const own = permissions.includes('all')
        ? fullEnvironment(environment)
        : limitedEnvironment(environment, permissions);
      const env = { ...own, ...variables };
      const shellBegins = reportsShell ? env : undefined;
      return await start({
        launch: { file, args, cwd, env, inputs: [], hasPidNamespace: false, shellBegins },
        limits: 'none',
      });
    },
    confineLook: async (launch) => launch,
    elsewhere: async (folder) => unconfined({ ...surroundings, ...folder }, reason),
    [Symbol.dispose]: () => {},
  };
}

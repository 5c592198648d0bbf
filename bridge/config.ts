/** What a program that runs a bridge says about it. */
import type { BridgeStatus } from '../machine/bridge-status.ts';
import type { Environment } from '../machine/environment.ts';
import type { EmbeddingService } from '../packages/code-index/index.ts';
import type { Offers } from '../packages/host/index.ts';
import type { Mode } from '../shared/wire/modes.ts';
import type { Preset } from '../shared/wire/preset.ts';
import type { ConnectionConfig } from './tunnel/socket.ts';
import type { Net } from './web/page.ts';
import type { SearchService } from './web/search.ts';

export interface BridgeConfig extends ConnectionConfig {
  readonly workspaceDir: string;
  /** The id of this machine's device: the server keeps a bridge to its machine and its folder. */
  readonly machineId?: string;
  /** Lets the bridge's conversations go on in this folder, where they were elsewhere before. */
  readonly moves?: boolean | undefined;
  /** Outside every workspace. Holds journal, rules and enrolled devices. */
  readonly stateDir: string;
  /** The folder of the owner's configuration: it may hold rules for all projects. */
  readonly configDir?: string | undefined;
  /** Has the devices that count at every bridge of the machine, and the secrets that add to them. Default: `stateDir`. */
  readonly machineDir?: string;
  /** The owner's preset for projects without one of their own. Default: `workspace`. */
  readonly preset?: Preset;
  /** What programs of this bridge get of it: commands by packages/sandbox/launch/environment.ts, MCP servers by packages/mcp/. */
  readonly environment: Environment;
  /** Whether it may ask questions at this process's terminal. One bridge of a process may. */
  readonly asksAtTerminal: boolean;
  /** Whether the owner lets devices of other machines allow calls from now on. */
  readonly devicesMayAllowAlways?: boolean;
  /** Whether the owner counts devices of other machines only by passkeys. */
  readonly devicesNeedPasskey?: boolean;
  /** The owner's model for vectors. Without one the index finds by words. */
  readonly embedding?: EmbeddingService | undefined;
  /** The modes in which a message gets the code that it is about. Default: all but `debug`. */
  readonly codeInPrompt?: readonly Mode[] | undefined;
  /** Tools beside the built-in ones. The tools of the owner's MCP servers are added to them. */
  readonly offers?: Offers;
  /** The owner's search service. Without one the bridge has no web_search. */
  readonly webSearch?: SearchService | undefined;
  /** How web_fetch reaches the web; another one in tests. */
  readonly net?: Net;
  /** Programs beside the bridge's own that are started again from their files: the Node of a server. */
  readonly programs?: readonly string[];
  onStatus(status: BridgeStatus): void;
}

/** What a search for companions takes and gives. A companion is the MCP server that an editor's extension runs. */
import type { Environment } from '../../../../machine/environment.ts';

/** The coding CLI that a companion was made for. Both speak the same protocol. */
export type Family = 'gemini' | 'qwen';

/** Where a companion may answer. Any process of this user can announce one: a candidate is not yet trusted. */
export interface Candidate {
  readonly family: Family;
  /** The path of the discovery file, or the name of the variable. */
  readonly source: string;
  readonly port: number;
  /** For `Authorization: Bearer`. Old companions have none. */
  readonly token?: string;
  /** Real paths of the folders that the editor's window has open; undefined where the source names none. */
  readonly roots: readonly string[] | undefined;
  /** The editor's process, as the source names it. It may have exited, or be one of another PID namespace. */
  readonly pid?: number;
  /** Official companions give no name. */
  readonly ide?: { readonly name: string; readonly displayName: string };
}

/** A source that the search did not take, for `drawbridge ide`: nothing is decided by it. */
export interface PassedOver {
  /** A path or the name of a variable. */
  readonly source: string;
  /** One clause, for a person. May quote text from a file: escape it before printing. */
  readonly why: string;
}

/** What one search found. Only ports were tried: nothing has shown that a companion answers there. */
export interface Discovery {
  /** Best first, without those that cannot be the workspace's editor. */
  readonly ranked: readonly Candidate[];
  /** At most `DISCOVERY_LIMITS.maxPassedOver`, and one more that counts the rest. */
  readonly passedOver: readonly PassedOver[];
}

/** The machine as the search sees it. `placeHere` reads the real one. */
export interface SearchPlace {
  /** Absolute. */
  readonly workspace: string;
  readonly environment: Environment;
  readonly home: string;
  readonly temporaryFolders: readonly string[];
  readonly platform: NodeJS.Platform;
  /** A companion of one of this process's ancestors ranks higher. */
  readonly pid: number;
  /** The owner that files must have; undefined where the system has no user ids. */
  readonly userId: number | undefined;
  readonly isInContainer: boolean;
}

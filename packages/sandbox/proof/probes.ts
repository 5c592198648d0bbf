/** What the self-test asks of one system's sandbox, beside what it asks of every sandbox. */
import type { Permission } from '../../../shared/tools/run-terminal-cmd.ts';

/** The beginnings of what an attempt prints. */
export const SAID = {
  revealed: 'revealed ',
  escaped: 'escaped ',
  reached: 'reached ',
} as const;

/** All values of the attempt's lines with this beginning. */
export type Said = (prefix: string) => readonly string[];

export interface Probes {
  /** Further files that no command may read. The common part of the attempt tries it. */
  readonly secrets: readonly string[];
  /** Further files that no command may make. The same. */
  readonly outside: readonly string[];
  /** Further lines of the attempt, for a shell. */
  readonly script: string;
  /** Attempts of commands that a person has allowed more, which still may not do everything. */
  readonly allowed: readonly {
    readonly permissions: readonly Permission[];
    readonly script: string;
  }[];
  readonly judge: (said: Said) => Promise<{
    /** Whether it is shown that the network is not the machine's. */
    readonly isApart: boolean;
    /** Whether the sandbox promises to hide the machine's processes, and that is not shown. */
    readonly sawProcesses: boolean;
    /** Limits that should hold and do not. */
    readonly unbounded: readonly string[];
  }>;
}

/** For the runtime's sandbox of Linux, which only tests use. */
export const NO_PROBES: Probes = {
  secrets: [],
  outside: [],
  script: '',
  allowed: [],
  judge: async () => ({ isApart: true, sawProcesses: false, unbounded: [] }),
};

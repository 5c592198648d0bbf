/**
 * What tests use of Node 24. The types of Node are those of version 20, the oldest that the program runs on, so that
 * its sources can use nothing newer; `tsc -p cli` does not see this file.
 */
declare module 'node:sqlite' {
  class DatabaseSync {
    constructor(path: string);
    exec(statements: string): void;
    prepare(statement: string): {
      run(...values: (null | number | string | Uint8Array)[]): void;
      all(): Record<string, null | number | string | Uint8Array>[];
    };
    close(): void;
  }
}

declare namespace NodeJS {
  interface Process {
    /** In µs, of the calling thread alone. */
    threadCpuUsage(): { user: number; system: number };
  }
}

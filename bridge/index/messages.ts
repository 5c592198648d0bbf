/** The messages to the index's thread and back. Both ends are this program, so no message comes from outside. */
/** A chunk of a file and how well it answers. Lines are counted from 0; `end` is not part of it. */
export interface Hit {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly score: number;
}

/** What the thread can be asked, and what it answers. */
export interface IndexWork {
  /** Opens the index of a workspace, or makes it. */
  open: {
    readonly ask: { readonly path: string; readonly root: string; readonly parses: boolean };
    readonly answer: null;
  };
  /** Compares the index with these files, joined by NUL, and reads those that have changed. */
  update: { readonly ask: { readonly names: string }; readonly answer: UpdateReport };
  /** The best chunks in these folders and files; `.` is the whole workspace. */
  rank: {
    readonly ask: {
      readonly question: string;
      readonly places: readonly string[];
      readonly limit: number;
    };
    readonly answer: readonly Hit[];
  };
}

export interface UpdateReport {
  readonly files: number;
  /** Files that are not in the index for a limit's sake. */
  readonly leftOut: number;
}

export type IndexTask = keyof IndexWork;

export interface IndexOrder {
  readonly id: number;
  readonly task: IndexTask;
  readonly ask: unknown;
}

export type IndexNews =
  | { readonly id: number; readonly state: 'done'; readonly answer: unknown }
  | {
      readonly id: number;
      readonly state: 'failed';

      readonly message: string;
    }
  | { readonly id: number; readonly state: 'progress'; readonly done: number; readonly of: number };

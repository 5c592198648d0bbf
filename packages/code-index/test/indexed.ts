/** An index of a real folder, in its own thread, that goes away with the test. */
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { IndexReport } from '../../../machine/bridge-status.ts';
import {
  type TemporaryWorkspace,
  temporaryWorkspace,
} from '../../../test/bridge/tools/temporary-workspace.ts';
import { Workspace } from '../../workspace/workspace.ts';
import { type CodeEmbedding, CodeIndex } from '../code-index.ts';

/** How questions are asked that are about something else. */
export const ASKED = { isPrivate: false, waitMs: 2_000 } as const;

export interface Indexed extends TemporaryWorkspace {
  readonly index: CodeIndex;
  readonly database: string;
  readonly reports: IndexReport[];
  readonly find: (question: string, places?: readonly string[]) => Promise<string[]>;
  /** Whether the last answer came by vectors too. */
  readonly isByMeaning: () => boolean;
  readonly chunks: (question: string) => Promise<[path: string, start: number, end: number][]>;
}

/** An index that is ready. `before` is one whose folder or database goes on. */
export async function indexed(
  files: Readonly<Record<string, string>>,
  prepare?: (made: TemporaryWorkspace) => void,
  before?: Partial<Indexed>,
  embedding?: CodeEmbedding,
): Promise<Indexed> {
  const made = before?.root === undefined ? await temporaryWorkspace(files) : (before as Indexed);
  prepare?.(made);
  const ending = new AbortController();
  const database = before?.database ?? join(dirname(made.root), 'index.sqlite');
  const reports: IndexReport[] = [];
  const workspace = await Workspace.open(made.root);
  const index = new CodeIndex({
    workspace,
    path: database,
    embedding,
    onReport: (report) => reports.push(report),
    signal: ending.signal,
  });
  onTestFinished(async () => {
    ending.abort();
    await index.end();
  });
  index.start();
  await expect.poll(() => index.report.state).toBe('ready');
  let byMeaning = false;
  const find = async (question: string, places: readonly string[] = ['.']) => {
    const found = await index.find({ workspace, question, places, limit: 40, ...ASKED });
    byMeaning = found?.byMeaning ?? false;
    return [...new Set(found?.chunks.map(({ path }) => path))];
  };
  const chunks = async (question: string) => {
    const found = await index.find({ workspace, question, places: ['.'], limit: 40, ...ASKED });
    return (found?.chunks ?? []).map(({ path, start, end }): [string, number, number] => [
      path,
      start,
      end,
    ]);
  };
  const isByMeaning = () => byMeaning;
  return { ...made, index, database, reports, find, isByMeaning, chunks };
}

/** Reads what the runs of a conversation have asked of models, for the account's usage. */

import { addEntries, dayOf, type UsageEntry } from '../../../shared/api/usage.ts';
import { Usage } from '../../../shared/wire/documents.ts';
import type { Sql } from '../../storage/row-meter.ts';
import { readStored } from './stored.ts';

/** One request to a model that a turn or a summary stored. */
export interface ModelRequest {
  readonly run: number;
  readonly model: string;
  readonly usage: Usage | null;
  /** When its answer was stored, in epoch milliseconds; null for a summary. */
  readonly atMs: number | null;
}

/** The requests of the runs after `after`, up to `through`. The turns of each run are in order. */
export function readModelRequests(sql: Sql, after: number, through: number): ModelRequest[] {
  const rows = sql.exec<RequestRow>(
    `select run, body ->> '$.model' as model, body -> '$.usage' as usage, body ->> '$.atMs' as at_ms from turns
     where number >= (
       select first_turn from runs where ordinal > ?1 and first_turn is not null order by ordinal limit 1
     ) and run <= ?2 and json_valid(body) and body ->> '$.model' is not null
     union all
     select run, body ->> '$.model', body -> '$.usage', null from windows
     where run > ?1 and run <= ?2 and json_valid(body) and body ->> '$.model' is not null
     order by run, at_ms`,
    after,
    through,
  );
  return Array.from(rows, ({ run, model, usage, at_ms }) => ({
    run,
    model,
    usage: readStored(usage, Usage),
    atMs: at_ms,
  }));
}

interface RequestRow extends Record<string, SqlStorageValue> {
  run: number;
  model: string;
  usage: string | null;
  at_ms: number | null;
}

/** The requests by day and model since `sinceMs`. `nowMs` stands for the time of a run's summary. */
export function entriesOf(
  requests: readonly ModelRequest[],
  sinceMs: number,
  nowMs: number,
): UsageEntry[] {
  const entries = new Map<string, UsageEntry>();
  const runs = Map.groupBy(requests, ({ run }) => run);
  for (const ofRun of runs.values()) {
    const last = ofRun.findLast(({ atMs }) => atMs !== null);
    if ((last?.atMs ?? nowMs) < sinceMs) continue;
    for (const request of ofRun) {
      const entry = entryOf(request, request === last ? 1 : 0, request.atMs ?? last?.atMs ?? nowMs);
      const key = `${entry.day} ${entry.model}`;
      const before = entries.get(key);
      entries.set(key, before ? addEntries(before, entry) : entry);
    }
  }
  return [...entries.values()];
}

/** The entry of a single request. `responses` is 1 for the last turn of a response, otherwise 0. */
export function entryOf(
  { model, usage }: Pick<ModelRequest, 'model' | 'usage'>,
  responses: number,
  atMs: number,
): UsageEntry {
  return {
    day: dayOf(atMs),
    model,
    responses,
    promptTokens: usage?.promptTokens ?? 0,
    cachedPromptTokens: usage?.cachedPromptTokens ?? 0,
    cacheWriteTokens: usage?.cacheWriteTokens ?? 0,
    completionTokens: usage?.completionTokens ?? 0,
    reasoningTokens: usage?.reasoningTokens ?? 0,
    totalTokens: usage?.totalTokens ?? 0,
    unreportedRequests: usage ? 0 : 1,
    costs: usage?.cost ? [usage.cost] : [],
  };
}

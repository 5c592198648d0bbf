import { OfferSet } from '../../../shared/wire/offer.ts';
import type { PlanState } from '../../../shared/wire/plans.ts';
import type { Sql } from '../../storage/row-meter.ts';
import { firstRow, insertRow, type StoredRow, updateRows } from '../../storage/statements.ts';
import { ERRANDS } from './errands.ts';
import { type ModelRequest, readModelRequests } from './model-requests.ts';
import {
  LeftRow,
  type NewRun,
  NewWindow,
  type Run,
  type RunEnd,
  type RunRequest,
  type RunStatus,
  type Steer,
  type Window,
} from './rows.ts';
import { MACHINE, RUN_END, readRequest, readStored, STEER, type StoredMachine } from './stored.ts';
import { TurnStore } from './turn-statements.ts';

/** A started run as its own row has it. Its end may be in the row of its last turn instead. */
export type StartedRun = Pick<Run, 'ordinal' | 'status' | 'request' | 'firstTurn' | 'isDamaged'> & {
  readonly machine: StoredMachine | null;
};

export interface StoredMessageKey {
  readonly ordinal: number;
  readonly key: string;
  readonly digest: string;
}

/** The synchronous statements of a conversation's runs. None reads more than it returns. */
export class RunStore {
  readonly turns: TurnStore;
  readonly #sql: Sql;
  /** The sets that were read or written, by digest, so that each set is one object. */
  readonly #offers = new Map<string, OfferSet>();

  constructor(sql: Sql) {
    this.#sql = sql;
    this.turns = new TurnStore(sql);
  }

  insertRun(run: NewRun): void {
    const { ordinal, status, first, started, firstTurn } = run;
    const [request, machine] = [JSON.stringify(run.request), this.#storeMachine(run)];
    const placed = { ordinal, status, first, started, first_turn: firstTurn };
    insertRow(this.#sql, 'runs', { ...placed, request, machine });
  }

  startRun(run: Run): void {
    const { ordinal, started, firstTurn } = run;
    const machine = this.#storeMachine(run);
    this.#update(ordinal, { status: 'running', started, machine, first_turn: firstTurn });
  }

  #update(ordinal: number, changed: Readonly<StoredRow>): void {
    updateRows(this.#sql, 'runs', changed, 'where ordinal = ?', ordinal);
  }

  /** The set with this digest, if a run of this conversation was offered it. */
  readOffers(digest: string): OfferSet | undefined {
    const known = this.#offers.get(digest);
    if (known) return known;
    const query = 'select body from offers where digest = ?';
    const row = firstRow<{ body: string }>(this.#sql, query, digest);
    const set = row && readStored(row.body, OfferSet);
    if (set) this.#offers.set(digest, set);
    return set ?? undefined;
  }

  /** The value of a run's `machine` column. Writes one more row for a set that is new to the conversation. */
  #storeMachine({ ordinal, machine }: Pick<Run, 'ordinal' | 'machine'>): string | null {
    if (!machine?.offers) return machine && JSON.stringify(machine);
    const { offers, ...rest } = machine;
    const { digest } = offers;
    if (!this.readOffers(digest)) {
      insertRow(this.#sql, 'offers', { run: ordinal, digest, body: JSON.stringify(offers) });
      this.#offers.set(digest, offers);
    }
    return JSON.stringify({ ...rest, offers: digest } satisfies StoredMachine);
  }

  countTakeover(ordinal: number, takeovers: number): void {
    this.#update(ordinal, { takeovers });
  }

  countFailure(ordinal: number, failures: number, notBefore: number): void {
    this.#update(ordinal, { failures, not_before: notBefore, takeovers: 0 });
  }

  /** Resets `takeovers` and `failures` after a completed turn. */
  clearTroubles(ordinal: number): void {
    this.#update(ordinal, { takeovers: 0, failures: 0 });
  }

  setDeadline(ordinal: number, deadline: number): void {
    this.#update(ordinal, { deadline });
  }

  /** Replaces the request of a run that has not started. */
  updateRequest(ordinal: number, request: RunRequest): void {
    this.#update(ordinal, { request: JSON.stringify(request) });
  }

  updateMachine(run: Pick<Run, 'ordinal' | 'machine'>): void {
    this.#update(run.ordinal, { machine: this.#storeMachine(run) });
  }

  endRun(ordinal: number, { status, last }: RunEnd): void {
    this.#update(ordinal, { status, last, takeovers: 0 });
  }

  /** The ordinal of the newest run, also where its row is damaged or lost; 0 when there is none. */
  readNewest(): number {
    return this.#sql
      .exec<{ newest: number }>(
        `select max(
           coalesce((select max(ordinal) from runs), 0),
           coalesce((select run from turns order by number desc limit 1), 0),
           coalesce((select run from steers order by number desc limit 1), 0)) as newest`,
      )
      .one().newest;
  }

  /** The run; null also for a run whose positions on the tape are damaged. */
  readRun(ordinal: number): Run | null {
    return this.#runs('where ordinal = ?', ordinal).next().value ?? null;
  }

  /** All runs, the newest first, read on demand. */
  runsBack(): Generator<Run, undefined> {
    return this.#runs('order by ordinal desc');
  }

  /** The first run that completed, without runs that asked no model; null without one. */
  readFirstAnswered(): Run | null {
    for (const run of this.#runs('where started is not null order by ordinal')) {
      const { asks } = ERRANDS[run.request.type];
      if (run.status === 'completed' && asks !== 'nothing') return run;
    }
    return null;
  }

  /** The started runs from ordinal `from` to `to`, both included, in order. */
  readStarted(from: number, to: number): StartedRun[] {
    const rows = this.#sql.exec(
      `select ordinal, status, request, machine, first_turn from runs
       where ordinal between ? and ? and started is not null order by ordinal`,
      from,
      to,
    );
    return Array.from(
      // Arrays take half the time of objects here, where the rows are all runs that the model gets.
      rows.raw<StartedColumns>(),
      ([ordinal, status, request, machine, first_turn]) =>
        parseStarted({ ordinal, status, request, machine, first_turn }),
    );
  }

  /** The start of the run that was running at this position of the tape; null without one. */
  readStartBefore(position: number): number | null {
    const query = 'select started from runs where started <= ? order by ordinal desc limit 1';
    return firstRow<{ started: number }>(this.#sql, query, position)?.started ?? null;
  }

  /** The position by which the tape has all of the runs up to `ordinal`, which must have finished, and their plans. */
  readEnd(ordinal: number): number {
    return ordinal === 0 ? 0 : (this.#startAfter(ordinal) ?? Number.MAX_SAFE_INTEGER);
  }

  /** Where the next run that has started begins; undefined without one. */
  #startAfter(ordinal: number): number | undefined {
    const query =
      'select started from runs where ordinal > ? and started is not null order by ordinal limit 1';
    return firstRow<{ started: number }>(this.#sql, query, ordinal)?.started;
  }

  /** The newest run from `ordinal` on that executes a plan, and has started; null without one. */
  readExecution(ordinal: number): { readonly ordinal: number; readonly plan: PlanState } | null {
    const row = firstRow<{ ordinal: number; request: string }>(
      this.#sql,
      `select ordinal, request from runs where ordinal >= ? and started is not null
       and case when json_valid(request) then request -> '$.plan' is not null end
       order by ordinal desc limit 1`,
      ordinal,
    );
    const request = row && readRequest(row.request);
    const plan = request && 'plan' in request ? request.plan : undefined;
    return row && plan ? { ordinal: row.ordinal, plan } : null;
  }

  /** The Idempotency-Keys of all messages to the runs after `after`, including steers. */
  readKeys(after: number): StoredMessageKey[] {
    return this.#sql
      .exec<StoredMessageKey & Record<string, SqlStorageValue>>(
        `select ordinal, ${valueIn('request', '->>', 'key')} as key, ${valueIn('request', '->>', 'digest')} as digest
           from runs where ordinal > ?1 and ${valueIn('request', '->', 'key')} is not null
         union all
         select run, ${valueIn('body', '->>', 'key')}, ${valueIn('body', '->>', 'digest')}
           from steers where ${ofRunsFrom('steers', '?1 + 1')} and ${valueIn('body', '->', 'key')} is not null`,
        after,
      )
      .toArray();
  }

  /**
   * The stored rows of this started run, of what waits behind it, and of its calls in the tunnel: one row there, and
   * its deletion. A message that waited was counted with the run before.
   */
  countRows({ ordinal, first, started, firstTurn, takeovers }: Run): number {
    const { rows } = this.#sql
      .exec<{ rows: number }>(
        `select (select count(*) from tape where position >= ?1) + (select count(*) from turns where number >= ?2)
           + 3 * (select count(*) from results where turn >= ?2) + (select count(*) from runs where ordinal >= ?3)
           + (select count(*) from steers where ${ofRunsFrom('steers', '?3')})
           + (select count(*) from windows where ${ofRunsFrom('windows', '?3')})
           + (select count(*) from offers where ${ofRunsFrom('offers', '?3')}) as rows`,
        started === first + 1 ? first : started,
        firstTurn,
        ordinal,
      )
      .one();
    return takeovers + rows;
  }

  /** The runs that match. A run's end is in its own row or in the row of its last turn. */
  *#runs(which: string, ...bindings: number[]): Generator<Run, undefined> {
    const query = `select *, case when last is null and started is not null then ${LAST_TURNS_END} end as turn_end from runs ${which}`;
    for (const row of this.#sql.exec<RunRow>(query, ...bindings)) {
      const run = this.#withOffers(parseRun(row));
      if (hasPlace(run))
        yield run.last === null && run.started !== null ? this.#endedAnyway(run) : run;
    }
    return undefined;
  }

  #withOffers({ machine: stored, ...run }: ParsedRun): Run {
    if (!stored) return { ...run, machine: null };
    const { offers: digest, ...machine } = stored;
    const offers = digest === undefined ? undefined : this.readOffers(digest);
    return { ...run, machine: offers ? { ...machine, offers } : machine };
  }

  /** Repairs a run whose stored end is damaged: it ended no later than the next run's start. */
  #endedAnyway(run: Run): Run {
    const last = this.#startAfter(run.ordinal);
    return last === undefined ? run : { ...run, status: 'error', last, isDamaged: true };
  }

  /** What the runs after `after`, up to `through`, have asked of models. */
  readModelRequests(after: number, through: number): ModelRequest[] {
    return readModelRequests(this.#sql, after, through);
  }

  insertSteer({ number, run, turns, ...body }: Steer): void {
    insertRow(this.#sql, 'steers', { number, run, turns, body: JSON.stringify(body) });
  }

  updateSteer({ number, run: _, turns: __, ...body }: Steer): void {
    this.#sql.exec('update steers set body = ? where number = ?', JSON.stringify(body), number);
  }

  placeSteers(run: number, turns: number): void {
    this.#sql.exec(
      `update steers set turns = ?1 where ${ofRunsFrom('steers', '?2')} and run = ?2 and turns is null`,
      turns,
      run,
    );
  }

  /** All steers, the newest first, read on demand. Steers of one run are consecutive. */
  *steersBack(): Generator<Steer, undefined> {
    const rows = this.#sql.exec<KeyedRunRow & { turns: number | null }>(
      'select number, run, turns, body from steers order by number desc',
    );
    for (const { body, ...keys } of rows) {
      yield { ...keys, ...(readStored(body, STEER) ?? DAMAGED_STEER) };
    }
    return undefined;
  }

  insertWindow({ number, run, ...body }: Window): void {
    insertRow(this.#sql, 'windows', { number, run, body: JSON.stringify(body) });
  }

  /** `run` is the run whose request was refused. */
  insertLeft(run: number, row: LeftRow): void {
    insertRow(this.#sql, 'left_out', { run, body: JSON.stringify(row) });
  }

  /** What models do not get, the oldest first. A damaged row is skipped: its part is sent again. */
  readLeft(): LeftRow[] {
    const rows = this.#sql.exec<{ body: string }>('select body from left_out order by number');
    return rows.toArray().flatMap(({ body }) => readStored(body, LeftRow) ?? []);
  }

  deleteLeft(): void {
    this.#sql.exec('delete from left_out');
  }

  /** The number of the newest window; 0 when there is none. */
  readWindowNumber(): number {
    return this.#sql
      .exec<{ number: number }>('select coalesce(max(number), 0) as number from windows')
      .one().number;
  }

  /** All windows, the newest first, read on demand. A damaged window is skipped: more is then sent word for word. */
  *windowsBack(): Generator<Window, undefined> {
    const rows = this.#sql.exec<KeyedRunRow>(
      'select number, run, body from windows order by number desc',
    );
    for (const { body, ...keys } of rows) {
      const window = readStored(body, NewWindow);
      if (window) yield { ...keys, ...window };
    }
    return undefined;
  }
}

/** The SQL condition for rows of the runs from `run` on, found from the end without reading the others. */
function ofRunsFrom(table: 'steers' | 'windows' | 'offers', run: string): string {
  return `number > coalesce((select number from ${table} where run < ${run} order by number desc limit 1), 0)`;
}

/** The end that a run's last turn stores. A run's turns lie between its first turn and that of the next started run. */
const LAST_TURNS_END = `(
  select case when json_valid(body) then body -> '$.end' end from turns
  where number >= runs.first_turn and number < coalesce(
    (select next.first_turn from runs as next
     where next.ordinal > runs.ordinal and next.first_turn is not null order by next.ordinal limit 1),
    9007199254740991)
  order by number desc limit 1
)`;

interface KeyedRunRow extends Record<string, SqlStorageValue> {
  number: number;
  run: number;
  body: string;
}

interface StartedRow extends Record<string, SqlStorageValue> {
  ordinal: number;
  status: string;
  request: string;
  machine: string | null;
  first_turn: number | null;
}

type StartedColumns = [
  ordinal: number,
  status: string,
  request: string,
  machine: string | null,
  first_turn: number | null,
];

interface RunRow extends StartedRow {
  first: number;
  started: number | null;
  last: number | null;
  takeovers: number;
  deadline: number | null;
  failures: number;
  not_before: number;
  turn_end: string | null;
}

/** The SQL value of a message's Idempotency-Key; null without one, and for a row that is not JSON. */
function valueIn(column: 'request' | 'body', operator: '->' | '->>', name: 'key' | 'digest') {
  return `case when json_valid(${column}) then ${column} ${operator} '$.idempotency.${name}' end`;
}

/** A row that can be read is trusted: the cast names what {@link RunStore.insertRun} stored. */
function parseStarted(row: StartedRow): StartedRun {
  const request = readRequest(row.request);
  const machine = row.machine === null ? null : readStored(row.machine, MACHINE);
  const isDamaged = request === null || (machine === null && row.machine !== null);
  return {
    ordinal: row.ordinal,
    status: row.status as RunStatus,
    request: request ?? DAMAGED_REQUEST,
    machine,
    firstTurn: row.first_turn,
    ...(isDamaged && { isDamaged }),
  };
}

/** A run with only the digest of its offers. */
type ParsedRun = Omit<Run, 'machine'> & Pick<StartedRun, 'machine'>;

function parseRun(row: RunRow): ParsedRun {
  const end = row.turn_end === null ? null : readStored(row.turn_end, RUN_END);
  const run = {
    ...parseStarted(row),
    first: row.first,
    started: row.started,
    last: row.last,
    takeovers: row.takeovers,
    deadline: row.deadline,
    failures: row.failures,
    notBefore: row.not_before,
    ...end,
  };
  const isKnown = run.last === null ? AT_WORK.has(run.status) : ENDED.has(run.status);
  return isKnown ? run : { ...run, status: statusOf(run), isDamaged: true };
}

/** Whether the run's positions are possible: safe integers in ascending order. */
function hasPlace({ first, started, last }: Run): boolean {
  const places = [first, started, last].filter((place) => place !== null);
  return places.every(
    (place, index) => Number.isSafeInteger(place) && place >= (places[index - 1] ?? 0),
  );
}

const AT_WORK: ReadonlySet<RunStatus> = new Set(['queued', 'running']);
const ENDED: ReadonlySet<RunStatus> = new Set(['completed', 'error', 'cancelled']);

/** The status that the other columns imply, where the stored status is damaged. */
function statusOf({ last, started }: Pick<Run, 'last' | 'started'>): RunStatus {
  if (last !== null) return 'error';
  return started === null ? 'queued' : 'running';
}

/** Stands for a damaged steer, for the model. People see the message as the tape has it. */
const DAMAGED_STEER: Pick<Steer, 'content'> = {
  content: '[This message is damaged in storage and cannot be read any more.]',
};

const DAMAGED_REQUEST: RunRequest = {
  type: 'message',
  model: 'unknown',
  mode: 'ask',
  messages: [{ role: 'user', ...DAMAGED_STEER }],
  createdMs: 0,
};

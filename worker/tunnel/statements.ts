/** The tables of a tunnel: its bridge as of the last hello, the open calls, the pending answers, the sets of tools. */
import type { SessionKey } from '../../shared/api/sessions.ts';
import { OFFER_LIMITS } from '../../shared/limits.ts';
import type { McpServerReport } from '../../shared/wire/mcp-servers.ts';
import type { OfferSet } from '../../shared/wire/offer.ts';
import type {
  ApprovalAnswer,
  MachineContext,
  ReportedConfinement,
  ToolCall,
} from '../../shared/wire/tunnel.ts';
import type { AnswerKey } from '../ports/tunnel.ts';
import { migrate, openStored } from '../storage/migrations.ts';
import { firstRow, insertRow } from '../storage/statements.ts';

/** As in worker/storage/migrations.ts. */
export const MIGRATIONS = [
  `create table bridge (id text primary key, owner text not null, body text not null) without rowid;
   create table calls (
     id text primary key, body text not null, at integer not null, delivered integer not null,
     cancelled integer not null default 0
   ) without rowid;
   create table answers (id text primary key, body text not null) without rowid;`,
  // Answers of protocol 2 name no question: they cannot count, and a bridge cannot read them. The bridge asks again.
  'delete from answers;',
  // Why the bridge refused the answer. A refused answer stays until the next one, so that its sender learns the reason.
  'alter table answers add column refused text;',
  // The newest sets of tools that the bridge offered. Not in the bridge's row, which each new context rewrites.
  'create table offers (number integer primary key, digest text not null, body text not null);',
  // The report of the bridge's MCP servers for people. Its one row changes with each server's state.
  'create table mcp_servers (id integer primary key check (id = 1), body text not null);',
  // Set for a call that waits for its bridge however long that is away.
  'alter table calls add column patient integer not null default 0;',
] as const;

export interface Bridge {
  readonly id: string;
  readonly owner: string;
  readonly tools: readonly string[];
  readonly confinement: ReportedConfinement;
  readonly context: MachineContext;
  /** Its machine; missing where the bridge has not sent it. */
  readonly machineId?: string | undefined;
  /** The key of its machine. Missing until a hello has brought a proof of one; from then on each must bring one. */
  readonly key?: SessionKey | undefined;
  /** The machine that a person lets it move to, and until when (epoch milliseconds). */
  readonly mayMove?: { readonly key: SessionKey; readonly untilMs: number } | undefined;
  /** Whom its machine lets in beside the owner. */
  readonly grants?: readonly string[] | undefined;
  /** When it last said hello, epoch milliseconds; missing for one of before. */
  readonly greetedMs?: number | undefined;
  /** When a process last took the place of another one that was connected, epoch milliseconds. */
  readonly replacedMs?: number | undefined;
  /** The digest of its set of tools, which is stored in `offers`. Missing if the bridge offers none. */
  readonly offers?: string | undefined;
}

/** A call that has no stored result yet. */
export interface OpenCall {
  readonly call: ToolCall;
  /** Time of the dispatch, epoch milliseconds. */
  readonly atMs: number;
  /** Whether the call was sent to the bridge, which may have started it. */
  readonly delivered: boolean;
  readonly cancelled: boolean;
  /** Whether it waits for its bridge however long that is away. */
  readonly isPatient: boolean;
  /** Whether its arguments are not stored, because the call is private. */
  readonly isCut: boolean;
}

/** Named statements. They are synchronous, so writes without an await between are atomic. */
export class TunnelStore {
  readonly #sql: SqlStorage;
  #exists: boolean;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#exists = openStored(sql, MIGRATIONS);
  }

  /** Null for a bridge that never connected. */
  readBridge(): Bridge | null {
    if (!this.#exists) return null;
    const query = 'select * from bridge';
    const row = firstRow<{ id: string; owner: string; body: string }>(this.#sql, query);
    if (!row) return null;
    const { body, ...named } = row;
    return { ...named, ...(JSON.parse(body) as Omit<Bridge, 'id' | 'owner'>) };
  }

  saveBridge({ id, owner, ...body }: Bridge): void {
    migrate(this.#sql, MIGRATIONS);
    this.#exists = true;
    const change = 'on conflict (id) do update set body = excluded.body';
    insertRow(this.#sql, 'bridge', { id, owner, body: JSON.stringify(body) }, change);
  }

  /** Stores a set as the newest one. Keeps only the newest `keptSets`. */
  saveOffers(set: OfferSet): void {
    const { digest } = set;
    this.#sql.exec('delete from offers where digest = ?', digest);
    insertRow(this.#sql, 'offers', { digest, body: JSON.stringify(set) });
    this.#sql.exec(
      'delete from offers where number not in (select number from offers order by number desc limit ?)',
      OFFER_LIMITS.keptSets,
    );
  }

  readOffers(digest: string): OfferSet | null {
    if (!this.#exists) return null;
    const query = 'select body from offers where digest = ?';
    const row = firstRow<{ body: string }>(this.#sql, query, digest);
    return row ? (JSON.parse(row.body) as OfferSet) : null;
  }

  /** Writes nothing for the same report. Only after {@link saveBridge}. */
  saveMcpServers(servers: readonly McpServerReport[]): void {
    const set = 'on conflict (id) do update set body = excluded.body where body <> excluded.body';
    const body = JSON.stringify(servers);
    insertRow(this.#sql, 'mcp_servers', { id: 1, body }, set);
  }

  readMcpServers(): McpServerReport[] {
    if (!this.#exists) return [];
    const row = firstRow<{ body: string }>(this.#sql, 'select body from mcp_servers');
    return row ? (JSON.parse(row.body) as McpServerReport[]) : [];
  }

  /** For a stored call, only marks it as delivered. False if nothing was written. */
  insertCall(
    call: ToolCall,
    { atMs, delivered, isPatient }: Omit<OpenCall, 'call' | 'cancelled' | 'isCut'>,
  ): boolean {
    const flags = { delivered: delivered ? 1 : 0, patient: isPatient ? 1 : 0 };
    const row = { id: call.callId, body: JSON.stringify(withoutWords(call)), at: atMs, ...flags };
    const mark =
      'on conflict (id) do update set delivered = 1 where excluded.delivered > calls.delivered';
    return insertRow(this.#sql, 'calls', row, mark).rowsWritten > 0;
  }

  readCalls(): OpenCall[] {
    return this.#exists
      ? this.#sql.exec<CallRow>('select * from calls order by at').toArray().map(parseCall)
      : [];
  }

  readCall(callId: string): OpenCall | null {
    const row = firstRow<CallRow>(this.#sql, 'select * from calls where id = ?', callId);
    return row ? parseCall(row) : null;
  }

  markDelivered(callId: string): void {
    this.#sql.exec('update calls set delivered = 1 where id = ? and delivered = 0', callId);
  }

  markCancelled(callId: string): void {
    this.#sql.exec('update calls set cancelled = 1 where id = ? and cancelled = 0', callId);
  }

  /** Forgets a call and any answer to it. */
  deleteCall(callId: string): void {
    this.#sql.exec('delete from calls where id = ?', callId);
    this.deleteAnswer(callId);
  }

  /**
   * False if the call already has an answer that was not refused. Of a private answer the words are not stored: if a
   * bridge gets it later, a rejection has no reason, and an approval of changed content does not count.
   */
  insertAnswer(answer: ApprovalAnswer, isPrivate: boolean): boolean {
    const { message: _, content: __, ...kept } = answer;
    const row = { id: answer.callId, body: JSON.stringify(isPrivate ? kept : answer) };
    const replace =
      'on conflict (id) do update set body = excluded.body, refused = null where refused is not null';
    return insertRow(this.#sql, 'answers', row, replace).rowsWritten > 0;
  }

  /** The answers that the bridge has not refused. */
  readAnswers(): ApprovalAnswer[] {
    return this.#sql
      .exec<{ body: string }>('select body from answers where refused is null')
      .toArray()
      .map(({ body }) => JSON.parse(body) as ApprovalAnswer);
  }

  /** Null if no answer to this question is stored. `refused` is the bridge's reason, or null. */
  readAnswerTo({ callId, nonce }: AnswerKey): { readonly refused: string | null } | null {
    if (!this.#exists) return null;
    const query = "select refused from answers where id = ? and json_extract(body, '$.nonce') = ?";
    return firstRow<{ refused: string | null }>(this.#sql, query, callId, nonce) ?? null;
  }

  markAnswerRefused({ callId, nonce }: AnswerKey, why: string): void {
    const isSame = "json_extract(body, '$.nonce') = ?";
    const set = `update answers set refused = ? where id = ? and ${isSame}`;
    this.#sql.exec(set, why, callId, nonce);
  }

  deleteAnswer(callId: string): void {
    this.#sql.exec('delete from answers where id = ?', callId);
  }

  /** Deletes the answer to exactly this question. */
  deleteAnswerTo({ callId, nonce }: AnswerKey): void {
    const isSame = "json_extract(body, '$.nonce') = ?";
    this.#sql.exec(`delete from answers where id = ? and ${isSame}`, callId, nonce);
  }

  /** Deletes the answer to an older question about the same call. */
  deleteOlderAnswer({ callId, nonce }: AnswerKey): void {
    const isOther = "json_extract(body, '$.nonce') <> ?";
    this.#sql.exec(`delete from answers where id = ? and ${isOther}`, callId, nonce);
  }
}

interface CallRow extends Record<string, SqlStorageValue> {
  body: string;
  at: number;
  delivered: number;
  cancelled: number;
  patient: number;
}

/** SQLite keeps the bytes of deleted rows until it needs their place, and a Durable Object cannot have them wiped. */
function withoutWords(call: ToolCall): StoredCall {
  const { callId, conversationId, tool, mode, isPrivate, grantee } = call;
  if (!isPrivate || Object.keys(call.arguments).length === 0) return call;
  return { callId, conversationId, tool, mode, arguments: {}, isPrivate, grantee, isCut: true };
}

type StoredCall = ToolCall & { readonly isCut?: true };

function parseCall({ body, at, delivered, cancelled, patient }: CallRow): OpenCall {
  const { isCut = false, ...call } = JSON.parse(body) as StoredCall;
  return {
    call,
    isCut,
    atMs: at,
    delivered: delivered === 1,
    cancelled: cancelled === 1,
    isPatient: patient === 1,
  };
}

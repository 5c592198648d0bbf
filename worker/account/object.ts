/** The Durable Object of one account: which bridges it has. Never on the path of a token. */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../env.ts';
import { hasSchema, migrate } from '../storage/migrations.ts';

const MIGRATIONS = [
  'create table bridges (id text primary key, connected_at integer not null) without rowid;',
] as const;

export interface KnownBridge {
  readonly id: string;
  /** When it connected last, epoch milliseconds. */
  readonly connectedAtMs: number;
}

export class Account extends DurableObject<Env> {
  /** Remembers a bridge, and that it connected now. */
  bridgeConnected(bridgeId: string): void {
    const { sql } = this.ctx.storage;
    migrate(sql, MIGRATIONS);
    sql.exec(
      'insert into bridges (id, connected_at) values (?, ?) on conflict (id) do update set connected_at = excluded.connected_at',
      bridgeId,
      Date.now(),
    );
  }

  /** The bridge that connected last; null when the account has none. */
  defaultBridge(): string | null {
    return this.bridges()[0]?.id ?? null;
  }

  /** The one that connected last comes first. */
  bridges(): KnownBridge[] {
    const { sql } = this.ctx.storage;
    if (!hasSchema(sql)) return [];
    return sql
      .exec<{ id: string; connected_at: number }>(
        'select * from bridges order by connected_at desc',
      )
      .toArray()
      .map(({ id, connected_at }) => ({ id, connectedAtMs: connected_at }));
  }
}

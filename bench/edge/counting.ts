/** The real Worker with a count of written rows: those of every statement, and one for each alarm set. */
import type { Env } from '../../worker/env.ts';
import worker, {
  Account as RealAccount,
  Conversation as RealConversation,
  Tunnel as RealTunnel,
} from '../../worker/index.ts';

/** Answers `GET /bench/rows` with all rows written so far by all objects, as a decimal number. */
export default {
  fetch(request, env, context) {
    if (new URL(request.url).pathname === '/bench/rows') return new Response(`${count()}`);
    return worker.fetch(request, env, context);
  },
} satisfies ExportedHandler<Env>;

export class Account extends RealAccount {
  constructor(state: DurableObjectState, env: Env) {
    watch(state.storage);
    super(state, env);
  }
}

export class Conversation extends RealConversation {
  constructor(state: DurableObjectState, env: Env) {
    watch(state.storage);
    super(state, env);
  }
}

export class Tunnel extends RealTunnel {
  constructor(state: DurableObjectState, env: Env) {
    watch(state.storage);
    super(state, env);
  }
}

let written = 0;
/** Cursors not yet counted: a cursor knows its rows only after it was read to its end. */
let cursors: { readonly rowsWritten: number }[] = [];
let isWatching = false;

function count(): number {
  for (const { rowsWritten } of cursors) written += rowsWritten;
  cursors = [];
  return written;
}

/** All objects are in one isolate and share the prototypes of their storages, so wrapping these once is enough. */
function watch(storage: DurableObjectStorage): void {
  if (isWatching) return;
  isWatching = true;
  const sql: SqlStorage = Object.getPrototypeOf(storage.sql);
  sql.exec = new Proxy(sql.exec, {
    apply(exec, self, parameters) {
      const cursor: SqlStorageCursor<Record<string, SqlStorageValue>> = Reflect.apply(
        exec,
        self,
        parameters,
      );
      // A reading cursor may be left before its end; then only its own object may use it.
      if (!/^\s*select\b/i.test(String(parameters[0]))) cursors.push(cursor);
      return cursor;
    },
  });
  const alarms: DurableObjectStorage = Object.getPrototypeOf(storage);
  alarms.setAlarm = new Proxy(alarms.setAlarm, {
    apply(setAlarm, self, parameters) {
      written++;
      return Reflect.apply(setAlarm, self, parameters);
    },
  });
}

/** The real Worker with counts of what the platform bills: written rows, and requests to objects. */
import type { Env } from '../../worker/env.ts';
import worker, {
  Account as RealAccount,
  Conversation as RealConversation,
  Tunnel as RealTunnel,
} from '../../worker/index.ts';

/** Answers `GET /bench/bill` with the counts of all objects so far (bench/counted-rows.ts). */
export default {
  fetch(request, env, context) {
    if (new URL(request.url).pathname === '/bench/bill') {
      return Response.json({ rows: countRows(), requests, messages });
    }
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

/** Calls, fetches and alarms. */
let requests = 0;
/** Messages that arrived on objects' sockets. */
let messages = 0;
let isInside = false;
for (const { prototype } of [RealAccount, RealConversation, RealTunnel]) watchCalls(prototype);

/** A method that another one calls at once is no request; after an `await` it is counted, so the count is no less. */
function watchCalls(prototype: object): void {
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (name === 'constructor' || typeof value !== 'function') continue;
    const apply = (method: typeof value, self: object, parameters: unknown[]) => {
      if (isInside) return Reflect.apply(method, self, parameters);
      if (name === 'webSocketMessage') messages++;
      else if (!name.startsWith('webSocket')) requests++;
      isInside = true;
      try {
        return Reflect.apply(method, self, parameters);
      } finally {
        isInside = false;
      }
    };
    Object.defineProperty(prototype, name, { value: new Proxy(value, { apply }) });
  }
}

let written = 0;
/** Cursors not yet counted: a cursor knows its rows only after it was read to its end. */
let cursors: { readonly rowsWritten: number }[] = [];
let isWatching = false;

/** Those of every statement, and one for each alarm set. */
function countRows(): number {
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

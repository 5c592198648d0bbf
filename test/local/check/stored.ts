/** A storage folder with objects of the Worker's classes, made by workerd with the Worker's own tables. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beside, whenAborted } from '../../../local/processes/beside.ts';
import { openLogFile } from '../../../local/processes/log-file.ts';
import { urlOf } from '../../../local/runtime/address.ts';
import { runWorker } from '../../../local/runtime/runtime.ts';

/** Their modules are typed for workerd alone. */
async function tablesIn(module: string): Promise<readonly string[]> {
  const path = join(import.meta.dirname, '..', '..', '..', 'worker', module);
  return ((await import(path)) as { readonly MIGRATIONS: readonly string[] }).MIGRATIONS;
}

const ACCOUNT = await tablesIn('account/statements.ts');
const CONVERSATION = await tablesIn('conversation/store/schema.ts');

/** The statements that make an object, in the class and under the name; `@erase` and `@alarm` are no SQL. */
export interface StoredObject {
  readonly className: 'Conversation' | 'Account';
  readonly name: string;
  readonly statements: readonly string[];
}

const MAKER = `
import { DurableObject } from 'cloudflare:workers';
class Made extends DurableObject {
  async make(statements) {
    const { storage } = this.ctx;
    for (const statement of statements) {
      if (statement === '@erase') await storage.deleteAll();
      else if (statement === '@alarm') await storage.setAlarm(Date.now() + 1e9);
      else storage.sql.exec(statement).toArray();
    }
    return String(this.ctx.id);
  }
  alarm() {}
}
export class Conversation extends Made {}
export class Account extends Made {}
export default {
  async fetch(request, env) {
    const made = [];
    for (const { className, name, statements } of await request.json()) {
      made.push(await env[className].get(env[className].idFromName(name)).make(statements));
    }
    return Response.json(made);
  },
};
`;

export function conversation(
  name: string,
  owner: string,
  more: readonly string[] = [],
): StoredObject {
  const own = `insert into conversation (id, owner, created, title) values ('${name}', '${owner}', '2026-11-20', 'T')`;
  const rows = Array.from(
    { length: 40 },
    (_, position) => `insert into tape values (${position}, '${'x'.repeat(3_000)}')`,
  );
  return { className: 'Conversation', name, statements: [...CONVERSATION, own, ...rows, ...more] };
}

export function account(name: string, listed: readonly string[], state?: string): StoredObject {
  const rows = listed.map((id) => `insert into unlisted values ('${id}', 0, 0)`);
  const standing = `insert into standing (id, state, since) values (1, '${state}', 0)`;
  return {
    className: 'Account',
    name,
    statements: [...ACCOUNT, ...rows, ...(state ? [standing] : [])],
  };
}

/** Makes them in `storageDir`, and returns the paths of their files. */
export async function store(
  storageDir: string,
  objects: readonly StoredObject[],
): Promise<string[]> {
  mkdirSync(storageDir, { recursive: true });
  const buildDir = mkdtempSync(join(dirname(storageDir), 'build-'));
  writeFileSync(join(buildDir, 'worker.js'), MAKER);
  const classes = ['Conversation', 'Account'];
  const listening = Promise.withResolvers<number>();
  const runtime = {
    wrangler: {
      compatibilityDate: '2026-01-01',
      compatibilityFlags: [],
      durableObjects: classes.map((className) => ({ binding: className, className })),
    },
    buildDir,
    moduleFile: 'worker.js',
    storageDir,
    pageDir: buildDir,
    port: 0,
    variables: {},
    log: openLogFile(join(buildDir, 'workerd.log')),
    onListening: listening.resolve,
    onRestart: () => {},
  };
  const made = await beside(
    (ending) => runWorker(runtime, ending),
    async (running) => {
      const url = urlOf(await Promise.race([listening.promise, whenAborted(running)]));
      const response = await fetch(url, { method: 'POST', body: JSON.stringify(objects) });
      return (await response.json()) as string[];
    },
    new AbortController().signal,
  );
  return made.map((hex, index) =>
    join(storageDir, `drawbridge-${objects[index]?.className}`, `${hex}.sqlite`),
  );
}

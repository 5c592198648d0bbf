/**
 * The Worker that checks databases, as source text: it runs in workerd, and no package has a file of its own for it. A
 * class of each storage folder extends `CheckedDatabase`.
 */
export const CHECKER_SOURCE = `
import { DurableObject } from 'cloudflare:workers';

class CheckedDatabase extends DurableObject {
  look() {
    const { sql } = this.ctx.storage;
    const rows = (query) => {
      try {
        return sql.exec(query).toArray();
      } catch {
        return []; // There is no such table, or its pages are damaged.
      }
    };
    let problem = null;
    try {
      const said = sql.exec('pragma quick_check(1)').toArray().map((row) => row.quick_check);
      if (said[0] !== 'ok') problem = said.join(', ');
    } catch (error) {
      problem = error.message;
    }
    const [own] = [...rows('select id, owner from conversation'), ...rows('select id, owner from bridge')];
    const ids = ['conversations', 'unlisted', 'bridges'].flatMap((table) => rows('select id from ' + table));
    const [standing] = rows('select state from standing');
    const subjects = rows('select distinct subject from records').map(({ subject }) => subject);
    return { problem, subjects, id: own?.id, owner: own?.owner, ids: ids.map(({ id }) => id), state: standing?.state };
  }

  /** Closes the file: objects would stay open for seconds, and a process may open only so many. */
  end() {
    this.ctx.abort('looked');
  }
}

async function look(namespace, hex) {
  const stub = namespace.get(namespace.idFromString(hex));
  try {
    const found = await stub.look();
    await stub.end().catch(() => undefined);
    return { hex, ...found };
  } catch {
    return { hex, problem: 'the file cannot be opened as a database' };
  }
}

export default {
  async fetch(request, env) {
    const { task, className, names } = await request.json();
    const namespace = env[className];
    if (task === 'ids') return Response.json(names.map((name) => String(namespace.idFromName(name))));
    return Response.json(await Promise.all(names.map((hex) => look(namespace, hex))));
  },
};
`;

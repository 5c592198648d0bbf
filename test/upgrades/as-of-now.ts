/** Moves a state of an older version in time: its questions wait a day, and the tests run on any day. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DAY } from '../../shared/units.ts';

/** Milliseconds since 1970, as every table and JSON text of a state counts its times. */
const MILLISECONDS = /\b1[0-9]{12}\b/g;

/** Adds to each time from a day before `madeAt` on what makes that moment the present one. */
export function asOfNow(folder: string, madeAt: Date): void {
  const byMs = Date.now() - madeAt.getTime();
  const fromMs = madeAt.getTime() - DAY;
  const shifted = (text: string) =>
    text.replace(MILLISECONDS, (ms) => String(Number(ms) < fromMs ? ms : Number(ms) + byMs));
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, entry);
    if (/\.jsonl?$/.test(path)) writeFileSync(path, shifted(readFileSync(path, 'utf8')));
    if (path.endsWith('.sqlite')) shiftDatabase(path);
  }

  function shiftDatabase(path: string): void {
    const database = new DatabaseSync(path);
    database.function('shifted', { deterministic: true }, (text) => shifted(String(text)));
    const columns = database.prepare(
      `SELECT t.name AS "table", c.name AS "column" FROM sqlite_schema t, pragma_table_info(t.name) c
       WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%' AND t.name NOT LIKE 'sqlite_%'`,
    );
    for (const { table, column } of columns.all()) {
      database.exec(
        `UPDATE "${table}" SET "${column}" = CASE typeof("${column}")
           WHEN 'integer' THEN "${column}" + ${byMs} ELSE shifted("${column}") END
         WHERE typeof("${column}") = 'text'
            OR (typeof("${column}") = 'integer' AND "${column}" BETWEEN ${fromMs} AND 9999999999999)`,
      );
    }
    database.close();
  }
}

/** The stored rows of a conversation as pages that one object sends to another. */
import { CONVERSATION_LIMITS } from '../../../shared/limits.ts';
import type { PageStart, TableName, TablePage } from '../../ports/conversation.ts';
import type { StoredRow } from '../../storage/statements.ts';

/** The part of a conversation to copy: the runs up to `ordinal`, and the tape before the position `end`. */
export interface Extent {
  readonly ordinal: number;
  readonly end: number;
}

export const FIRST_PAGE: PageStart = { table: 0, offset: 0 };

/** The tables that a fork copies, each in key order. Rows of ended runs never change, so an offset stays valid. */
export const TABLES: readonly { readonly name: TableName; readonly select: string }[] = [
  { name: 'tape', select: 'select * from tape where position < ?2 order by position' },
  { name: 'runs', select: 'select * from runs where ordinal <= ?1 order by ordinal' },
  { name: 'turns', select: 'select * from turns where run <= ?1 order by number' },
  {
    name: 'results',
    select:
      'select * from results where turn in (select number from turns where run <= ?1) order by turn, call',
  },
  { name: 'steers', select: 'select * from steers where run <= ?1 order by number' },
  { name: 'windows', select: 'select * from windows where run <= ?1 order by number' },
  { name: 'offers', select: 'select * from offers where run <= ?1 order by number' },
  { name: 'left_out', select: 'select * from left_out where run <= ?1 order by number' },
  { name: 'images', select: 'select * from images where run <= ?1 order by digest' },
];

/** Reads at least one row, and further rows up to CONVERSATION_LIMITS.maxPageChars in all. */
export function readPage(sql: SqlStorage, { ordinal, end }: Extent, from: PageStart): TablePage {
  const rows: { table: TableName; row: StoredRow }[] = [];
  let chars = 0;
  for (const [index, { name, select }] of TABLES.entries()) {
    if (index < from.table) continue;
    let offset = index === from.table ? from.offset : 0;
    for (const row of sql.exec(`${select} limit -1 offset ?3`, ordinal, end, offset)) {
      chars += charsOf(row);
      if (rows.length > 0 && chars > CONVERSATION_LIMITS.maxPageChars) {
        return { rows, next: { table: index, offset } };
      }
      rows.push({ table: name, row });
      offset++;
    }
  }
  return { rows, next: null };
}

function charsOf(row: StoredRow): number {
  return Object.values(row).reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? value.length : 0),
    0,
  );
}

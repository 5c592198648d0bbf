/** Tables as an older version of an object's has left them. */
import { env, runInDurableObject } from 'cloudflare:test';
import { migrate } from '../../worker/storage/migrations.ts';

/** The result takes away the tables, columns and indexes of later migrations. What those did to rows stays. */
export async function olderTables(
  migrations: readonly string[],
  version: number,
): Promise<(sql: SqlStorage) => void> {
  const older = await schemaAt(migrations.slice(0, version));
  return (sql) => {
    const added = schemaOf(sql).filter(({ name }) => !older.some((other) => other.name === name));
    for (const { type, name } of added) sql.exec(`drop ${type} if exists ${name}`);
    for (const { name, columns } of older) {
      const later = columnsOf(sql, name).filter((column) => !columns.includes(column));
      for (const column of later) sql.exec(`alter table ${name} drop column ${column}`);
    }
    sql.exec('update schema_version set version = ?', version);
  };
}

interface SchemaItem {
  readonly type: 'table' | 'index';
  readonly name: string;
  /** Empty for an index. */
  readonly columns: readonly string[];
}

/** In an object that is used for nothing else. */
async function schemaAt(migrations: readonly string[]): Promise<SchemaItem[]> {
  const scratch = env.CONVERSATIONS.get(env.CONVERSATIONS.newUniqueId());
  return await runInDurableObject(scratch, async (_, { storage }) => {
    migrate(storage.sql, migrations);
    const schema = schemaOf(storage.sql);
    await storage.deleteAll();
    return schema;
  });
}

function schemaOf(sql: SqlStorage): SchemaItem[] {
  return sql
    .exec<{ type: SchemaItem['type']; name: string }>(
      `select type, name from sqlite_master where type in ('index', 'table')
       and name not like 'sqlite_%' and name not like '_cf_%' order by type`,
    )
    .toArray()
    .map(({ type, name }) => ({
      type,
      name,
      columns: type === 'table' ? columnsOf(sql, name) : [],
    }));
}

function columnsOf(sql: SqlStorage, table: string): string[] {
  return sql
    .exec<{ name: string }>(`pragma table_info(${table})`)
    .toArray()
    .map(({ name }) => name);
}

/** Tells what SQLite says of a file that is damaged from every other error. */
export function isDamage(error: unknown): boolean {
  return error instanceof Error && /SQLITE_(CORRUPT|NOTADB)/.test(error.message);
}

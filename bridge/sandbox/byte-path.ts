/** Paths as the kernel has them: bytes, one to a character (latin1), since a name need not be UTF-8. */

/** Absolute. Only `/` and NUL have a meaning in it. */
export type BytePath = string;

/** For Node's file functions, which would encode a string as UTF-8. */
export function toBytes(path: BytePath): Buffer {
  return Buffer.from(path, 'latin1');
}

export function fromText(path: string): BytePath {
  return Buffer.from(path, 'utf8').toString('latin1');
}

/** To be shown: bytes that are no UTF-8 come out as U+FFFD. */
export function toText(path: BytePath): string {
  return toBytes(path).toString('utf8');
}

/** Whether a path lies inside a folder and is not the folder; both absolute and without links. */
export function isBelow(folder: BytePath, path: BytePath): boolean {
  return path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

import { inOneLine } from '../../shared/text/plain-sight.ts';

/** The last part of a folder's path: what people call a project. Hides no character. */
export function folderName(path: string): string {
  return inOneLine(path.split(/[\\/]/).findLast((part) => part !== '') ?? path);
}

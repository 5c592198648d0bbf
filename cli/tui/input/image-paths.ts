/** The paths of images that a terminal pastes for files that are dropped on it. */
import { statSync } from 'node:fs';
import { REQUEST_LIMITS } from '../../../shared/limits.ts';
import { writtenPath } from '../../terminal/written-path.ts';

/** The absolute paths, if the text is nothing but names of image files that exist; otherwise none. */
export function imagePathsIn(pasted: string): string[] {
  if (pasted.length > REQUEST_LIMITS.maxPathChars) return [];
  const words = wordsIn(pasted.trim());
  const paths = words.every((word) => IMAGE.test(word)) ? words.map(writtenPath) : [];
  return paths.every(isFile) ? paths : [];
}

const IMAGE = /\.(?:png|jpe?g|webp|gif)$/i;

/** As a shell reads them: some terminals quote a name, some write a backslash before its blanks. */
function wordsIn(text: string): string[] {
  const words = text.match(/(?:'[^'\n]*'|"[^"\n]*"|\\.|[^\s'"\\])+/g) ?? [];
  return words.map((word) =>
    word.replace(/'([^']*)'|"([^"]*)"|\\(.)/g, (_, single, double, escaped) => {
      return single ?? double ?? escaped;
    }),
  );
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

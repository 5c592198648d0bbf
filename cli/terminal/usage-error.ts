/** The error for a command line that cannot be carried out, and advice for it. */
import { nearestName } from '../../local/config/nearest-name.ts';

/** Its message is one clear sentence for the person at the terminal; the program ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The end of a sentence about an unknown word: the name that was probably meant, else all names. */
export function nameAdvice(word: string, names: readonly string[]): string {
  const meant = nearestName(word, names);
  return meant === undefined ? `use one of ${names.join(', ')}` : `did you mean ${meant}?`;
}

import { Random } from '../../bench/fuzz/random.ts';

/** Words of any characters, the same for the same seed, never twice the same. */
export function randomWords(seed: number): () => string {
  const random = new Random(seed);
  let count = 0;
  return () => {
    const chars = Array.from({ length: random.below(90) }, () => random.pick(CHARS));
    return `${chars.join('')}${(count++).toString(36)}`;
  };
}

const CHARS = [...'abcXYZ019_-.:/+= \n"\\€日😀'];

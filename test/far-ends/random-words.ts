/** Words of any characters, the same for the same seed, never twice the same. */
export function randomWords(seed: number): () => string {
  let state = seed;
  let count = 0;
  const below = (bound: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % bound;
  };
  return () => {
    const chars = Array.from({ length: below(90) }, () => CHARS[below(CHARS.length)] ?? '');
    return `${chars.join('')}${(count++).toString(36)}`;
  };
}

const CHARS = [...'abcXYZ019_-.:/+= \n"\\€日😀'];

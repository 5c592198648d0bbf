import { expect, it } from 'vitest';
import { measure } from './measure.ts';
import { KINDS } from './sparse-edits.ts';
import { JAVA } from './sparse-files.ts';

const EDITS = 20_000;

/** A lone last line may be new or another version of the one that is there: most of these are refused. */
const UNCLEAR = 'bare last line';

it('merges none of 20,000 sparse edits wrongly, and refuses few of each kind', () => {
  const { wrong, kinds } = measure({ seed: 5_000_000, count: EDITS });
  expect(wrong).toEqual([]);
  for (const kind of KINDS) {
    if (kind === UNCLEAR) continue;
    const { made, refused } = kinds.get(kind) ?? { made: 0, refused: 0 };
    expect({ kind, isSeldom: made > 500 && refused / made < MOST_REFUSED }).toEqual({
      kind,
      isSeldom: true,
    });
  }
});

it('does so in a language that the merge was not tuned for', () => {
  const { made, wrong, refused } = measure({
    seed: 6_000_000,
    count: EDITS / 4,
    languages: [JAVA],
  });
  expect(wrong).toEqual([]);
  expect(refused).toBeLessThan(made / 10);
});

/** The made files repeat themselves so much that some edits truly fit in two places. */
const MOST_REFUSED = 0.15;

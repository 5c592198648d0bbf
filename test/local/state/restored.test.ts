import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readFormat } from '../../../local/state/format.ts';
import { newRestored, settleRestored } from '../../../local/state/restored.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** Positions that no tape passes in a second. */
const A_SECOND = 2 ** 22;
const FORMAT = { format: 3, writtenBy: '1.0.0' };
const [TODAY, AHEAD] = ['2026-11-23T12:00:00.900Z', '2030-01-01T00:00:00.000Z'].map(Date.parse);
const restoredAt = (ms = 0, before = {}) => newRestored({ ...FORMAT, ...before }, new Date(ms));

test.each([
  ['was never restored', {}],
  ['was restored before', restoredAt(TODAY)],
  ['was restored by a version that kept only the time', { restoredMs: TODAY }],
  ['was restored by a clock that was ahead', restoredAt(AHEAD)],
])('two restores of a backup that %s begin a second of positions apart', (_, before) => {
  for (const [first = 0, second = 0] of [
    [(TODAY ?? 0) + 60_000, (TODAY ?? 0) + 60_050],
    [(TODAY ?? 0) + 60_050, (TODAY ?? 0) + 60_150],
    [(TODAY ?? 0) + 60_000, (TODAY ?? 0) + 3_660_000],
  ]) {
    const [one, two] = [restoredAt(first, before), restoredAt(second, before)];
    const seconds = Math.floor(second / 1000) - Math.floor(first / 1000);
    expect(two.firstPosition - one.firstPosition).toBe(seconds * A_SECOND);
    expect([one.restoredMs, two.restoredMs]).toEqual([first, second]);
  }
});

test('a restore goes beyond what a clock that was ahead has given out, and what followed since', () => {
  const ahead = restoredAt(AHEAD);
  const { firstPosition } = restoredAt(TODAY, ahead);
  const sinceBackup = 60 * 24 * 60 * 60;
  expect(firstPosition).toBeGreaterThan(ahead.firstPosition + sinceBackup * A_SECOND);
  expect(firstPosition).toBeLessThan(Number.MAX_SAFE_INTEGER);
});

test('restores by a clock that is right stay at the positions of the clock', () => {
  const first = restoredAt(TODAY);
  const later = (TODAY ?? 0) + 5_000;
  expect(restoredAt(later, first)).toEqual(restoredAt(later));
});

test.each(['1970-01-01', '2025-12-31', '2094-06-01', '9999-01-01'])(
  'a clock that shows %s is refused, with what to do',
  (time) => {
    expect(() => newRestored(undefined, new Date(time))).toThrow(
      /^This machine's clock shows .*: set it right.*Nothing was restored\.$/,
    );
  },
);

test('a restore by a clock that was ahead counts as of now, once the clock is right', async () => {
  const dir = temporaryFolder();
  const ahead = restoredAt(AHEAD);
  writeFileSync(join(dir, 'state.json'), JSON.stringify({ ...FORMAT, ...ahead }));
  const now = new Date(TODAY ?? 0);
  const settled = { ...ahead, restoredMs: now.getTime() };
  const found = { whole: settled, files: {} };
  expect(await settleRestored(dir, now)).toEqual(found);
  expect(await readFormat(dir)).toEqual({ ...FORMAT, ...settled });
  expect(await settleRestored(dir, new Date(now.getTime() + 5_000))).toEqual(found);
});

test('the restore of a file alone is of that file alone, and later ones go beyond it', async () => {
  const dir = temporaryFolder();
  const [earlier, ahead] = [restoredAt(TODAY), restoredAt(AHEAD)];
  const state = { ...FORMAT, ...earlier, restoredFiles: { one: ahead, two: earlier } };
  writeFileSync(join(dir, 'state.json'), JSON.stringify(state));
  const now = new Date((TODAY ?? 0) + 5_000);
  const one = { ...ahead, restoredMs: now.getTime() };
  expect(await settleRestored(dir, now)).toEqual({ whole: earlier, files: { one, two: earlier } });
  const { restoredFiles } = (await readFormat(dir)) ?? {};
  expect(restoredFiles).toEqual({ one, two: earlier });
  for (const laterMs of [TODAY, AHEAD].map((ms = 0) => ms + 10_000)) {
    expect(restoredAt(laterMs, { restoredFiles }).firstPosition).toBeGreaterThan(
      ahead.firstPosition,
    );
  }
});

test('a state that was never restored stays as it is', async () => {
  const dir = temporaryFolder();
  writeFileSync(join(dir, 'state.json'), JSON.stringify(FORMAT));
  expect(await settleRestored(dir, new Date())).toEqual({ whole: undefined, files: {} });
  expect(await readFormat(dir)).toEqual(FORMAT);
});

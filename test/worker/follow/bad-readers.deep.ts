import { it } from 'vitest';
import { deep } from '../../depth.ts';
import { comeBack, crowd } from './many-readers.ts';

const ROUNDS = deep(10);
const TIMES = deep(50);

it(`keeps nothing of ${100 * ROUNDS} readers that come, read and leave`, () => crowd(ROUNDS));

it(`gives the same to readers that come back with old cursors ${TIMES} times`, async () => {
  await comeBack(TIMES);
});

import { it } from 'vitest';
import { deep } from '../../../../depth.ts';
import { growMany } from './growing.ts';

/** Those of the gate are among them. */
const SEEDS = deep(400);

it(`holds for ${SEEDS} random conversations that grow`, () => growMany(SEEDS));

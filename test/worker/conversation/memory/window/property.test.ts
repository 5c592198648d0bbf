import { it } from 'vitest';
import { growMany } from './growing.ts';

/** `test:deep` grows four hundred. */
const SEEDS = 20;

it(`holds for ${SEEDS} random conversations that grow`, () => growMany(SEEDS));

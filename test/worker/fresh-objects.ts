/** All test files of a worker share one runtime: what one leaves running would ask the models of the next. */
import { afterAll } from 'vitest';
import { deleteObjects } from './delete-objects.ts';

afterAll(deleteObjects);

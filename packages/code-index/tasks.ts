/** The computation of a search by meaning. */
import { LIGHT_BYTES } from '../../machine/compute/light.ts';
import { task } from '../../machine/compute/task.ts';
import { pickPassages } from './search/codebase/pick.ts';

export const PASSAGE_TASKS = {
  pickPassages: task(
    'pickPassages',
    pickPassages,
    ({ files }) => files.reduce((sum, { bytes }) => sum + bytes.length, 0) <= LIGHT_BYTES,
  ),
};

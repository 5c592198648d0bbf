/** The program of threads and processes: it does every task that the bridge and its packages have. */
import { serveTasks } from '../../machine/compute/serve.ts';
import { PASSAGE_TASKS } from '../../packages/code-index/tasks.ts';
import { EDIT_TASKS } from '../../packages/edits/tasks.ts';
import { CONTENT_TASKS } from './tasks.ts';

serveTasks([EDIT_TASKS, PASSAGE_TASKS, CONTENT_TASKS].flatMap((tasks) => Object.values(tasks)));

/** How the model keeps its list of todos, and when it asks the user. */
import { askQuestion } from '../../../shared/tools/ask-question.ts';
import { todoWrite } from '../../../shared/tools/todo-write.ts';
import { type BlockText, hasTool } from './block.ts';

export const taskManagement: BlockText = (facts) =>
  hasTool(facts, todoWrite) ? TASK_MANAGEMENT : null;

const TASK_MANAGEMENT = `Keep a list of todos for a task of three or more steps. One todo is in progress at a time. Complete it as soon as it is
done and checked. Leave none open when you finish without saying why.`;

export const asking: BlockText = (facts) => (hasTool(facts, askQuestion) ? ASKING : null);

const ASKING = `Ask the user only what decides the result and cannot be found out, and ask it all at once. For anything else choose the
sensible way and say which one you took.`;

/** How the model keeps its list of todos, and when it asks the user. */
import { askQuestion } from '../../../shared/tools/ask-question.ts';
import { todoWrite } from '../../../shared/tools/todo-write.ts';
import { type BlockText, hasTool } from './block.ts';

export const taskManagement: BlockText = (facts) =>
  hasTool(facts, todoWrite) ? TASK_MANAGEMENT : null;

const TASK_MANAGEMENT = `Keep a list of todos for a task of three or more steps. Work on one todo at a time, and complete it as soon as it is done and
checked. If a todo is open when you finish, say why.`;

export const asking: BlockText = (facts) => (hasTool(facts, askQuestion) ? ASKING : null);

const ASKING = `Ask the user only what decides the result and what you cannot find out, and ask it all at once. Decide everything else
yourself, and say how you decided.`;

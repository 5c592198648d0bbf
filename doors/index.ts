/** The APIs of others that the Worker speaks. A door is one folder and one line here. */
import { cursor } from './cursor/door.ts';
import type { Door } from './door.ts';
import { openAi } from './openai/door.ts';
import { uiMessages } from './ui-messages/door.ts';

export const DOORS: readonly Door[] = [uiMessages, openAi, cursor];

import type { Door } from '../door.ts';
import { UI_MESSAGES } from './routes.ts';

/** Vercel's AI SDK: chats and their streams. */
export const uiMessages: Door = { endpoints: UI_MESSAGES, schemas: {} };

/** The face of the workspace: Cursor's Cloud Agents API v1, and the interface of its editor. */

export type { ChatCore, Form } from './connect/core.ts';
export { CALLS, failedCall, serveCall } from './connect/service.ts';
export type { Core } from './core.ts';
export { CURSOR_ROUTES } from './routes.ts';
/** By their names in `/openapi.json`. */
export * as CURSOR_SCHEMAS from './schemas.ts';

/** What was put away, for a person's commands: it loads no sandbox. */
export { findObstacles } from './quarantine/obstacles.ts';
export { keptThings, restoreRecord } from './quarantine/restoring.ts';
export { listRecords, removeRecord, type StoredManifest } from './quarantine/store.ts';

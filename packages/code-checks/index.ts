/** Checks and formats edits before they are proposed, with the owner's own programs. */
export { confinedServers } from './confined.ts';
export { checkingShape, EditChecks } from './edit-checks.ts';
export { Formatters } from './formatting/formatters.ts';
export { formattingShape } from './formatting/shape.ts';
export { LanguageServers } from './servers.ts';
export { createReadLints } from './tool.ts';
export { usedFileDiagnostics } from './used-files.ts';

/** Turns what a model writes into an edit of a file: exact bytes, or a refusal that says why. */
export { diffTexts, formatChange } from './diff.ts';
export { decode } from './encoding.ts';
export { EDIT_LIMITS } from './limits.ts';
export { numberLine } from './line-numbers.ts';
export { countLines, lineTexts, lineTextsFrom } from './lines.ts';
export { isNotebook, readNotebook } from './notebooks/notebook.ts';
export { showNotebook } from './notebooks/show.ts';
export type { Edit, EditProposal } from './propose.ts';
export type { KnownSource } from './source.ts';
export { hasMark } from './transcode.ts';

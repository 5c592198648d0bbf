/** Turns what a model writes into an edit of a file: exact bytes, or a refusal that says why. */
export { diffTexts, formatChange } from './diff.ts';
export { EDIT_LIMITS } from './limits.ts';
export { isNotebook, readNotebook } from './notebooks/notebook.ts';
export { showNotebook } from './notebooks/show.ts';
export type { Edit, EditProposal } from './propose.ts';
export type { KnownSource } from './source.ts';

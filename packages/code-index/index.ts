/** The code of a workspace as an index: searches by words and meaning, and the files that searches see. */
export { CodeIndex } from './code-index.ts';
export type { EmbeddingService } from './embedder.ts';
export { type CodeLook, findCode } from './found-code.ts';
export { INDEX_LIMITS } from './limits.ts';
export { listFiles, listInTime } from './search/file-list.ts';
export { SEARCH_LIMITS } from './search/limits.ts';
export { LINE_END_FLAG, overLineEnds } from './search/line-ends.ts';
export { withLiteralNames } from './search/literal-names.ts';
export { LongRecord } from './search/records.ts';
export { type Ripgrep, runRipgrep } from './search/ripgrep.ts';
export { withRuleNotes } from './search/rule-notes.ts';
export { searchUnderRules } from './search/ruled-search.ts';
export { type Sighting, Sightings } from './search/sightings.ts';
export { findLine } from './search/text-search.ts';
export { codebaseSearching } from './tool.ts';

/** What the model is told: the system prompt, and what it learns of machine, editor, rules and skills. */
export {
  buildUserPrompt,
  buildWorktreeNote,
  CUT_NOTE,
  STOPPED_NOTE,
  tagQuery,
  type UserPrompt,
} from './context.ts';
export { namesEditor } from './editor.ts';
export { tagged } from './escape.ts';
export { familyOf, offeredTo } from './families.ts';
export { renderEditHistory, renderFindings } from './findings.ts';
export { PROMPT_LIMITS } from './limits.ts';
export { type ModeWords, renderMode, type SentMode } from './mode.ts';
export { buildPlanNote } from './plan.ts';
export {
  fitRules,
  type KnownRules,
  mentionsIn,
  NO_RULES,
  renderRules,
  rulesChars,
} from './rules.ts';
export { type PromptEnv, readPromptChanges } from './setting.ts';
export {
  ACTIVE_ALREADY,
  type ActiveSkill,
  type ActiveSkills,
  isActive,
  type KnownSkills,
  NO_SKILLS,
  renderSkillList,
  skillAttached,
  skillGiven,
  withSkills,
} from './skills.ts';
export {
  buildDigestPrompt,
  buildSummariserPrompt,
  buildSummaryQuery,
  recorded,
} from './summary.ts';
export {
  overlaid,
  renderSurroundings,
  type Sources,
  type Surroundings,
  surroundingsOf,
} from './surroundings.ts';
export { buildSystemPrompt, modeWordsWith } from './system.ts';
export { buildTitleQuery, TITLE_PROMPT } from './title.ts';
export { formatTodos } from './todos.ts';

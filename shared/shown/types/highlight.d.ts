/** What is used of highlight.js. Its own types bring those of the DOM, which only the page has (web/tsconfig.json). */
export type { LanguageFn } from './language.d.ts';

import type { LanguageFn } from './language.d.ts';

export interface HighlightResult {
  readonly _emitter: object;
  readonly _top?: object;
}

declare const hljs: {
  getLanguage(name: string): object | undefined;
  highlight(text: string, options: { language: string; ignoreIllegals: boolean }): HighlightResult;
  registerLanguage(name: string, language: LanguageFn): void;
  registerAliases(names: readonly string[], options: { languageName: string }): void;
};
// biome-ignore lint/style/noDefaultExport: the package has one.
export default hljs;

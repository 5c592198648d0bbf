/** A language of highlight.js. */
export type LanguageFn = (hljs: never) => object;

declare const language: LanguageFn;
// biome-ignore lint/style/noDefaultExport: the package has one.
export default language;

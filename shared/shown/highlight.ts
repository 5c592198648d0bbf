/** Finds the words of code that get a colour. A file of its own, which page and terminal load when they first need it. */
import type { HighlightResult, LanguageFn } from 'highlight.js';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import cpp from 'highlight.js/lib/languages/cpp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

/** A part of code; `scope` names what it is, such as `string` or `title.function`. */
export interface CodeNode {
  readonly scope?: string;
  readonly children: readonly (CodeNode | string)[];
}

/** Undefined for a language that is not known here. */
export function highlight(text: string, language: string): CodeNode | undefined {
  return highlightPart(text, language)?.root;
}

/** The beginning of a text that may go on. */
interface HighlightedPart {
  readonly root: CodeNode;
  /** Whether the rest can be highlighted without it: no string, comment or the like is open at its end. */
  readonly isSelfContained: boolean;
}

/** {@link highlight} for a text that grows: what is self-contained need not be looked at again. */
export function highlightPart(text: string, language: string): HighlightedPart | undefined {
  if (!hljs.getLanguage(language)) return undefined;
  const result = hljs.highlight(text, { language, ignoreIllegals: true });
  const root = rootOf(result);
  return root && { root, isSelfContained: !isInside(result) };
}

/** The tree that highlight.js writes its HTML from. It is private there, and nothing here takes HTML. */
function rootOf({ _emitter: tree }: HighlightResult): CodeNode | undefined {
  return 'root' in tree ? (tree.root as CodeNode) : undefined;
}

/** Its last mode is private too. That of the language itself has no parent. */
function isInside({ _top: mode }: HighlightResult): boolean {
  return mode !== undefined && 'parent' in mode && mode.parent !== undefined;
}

/** With the names of similar languages that are not here. */
const LANGUAGES: readonly (readonly [string, LanguageFn, ...string[]])[] = [
  ['bash', bash, 'shell', 'console', 'dotenv'],
  ['cpp', cpp, 'c', 'csharp'],
  ['css', css, 'scss', 'less'],
  ['diff', diff],
  ['go', go],
  ['java', java, 'kotlin', 'groovy'],
  ['javascript', javascript],
  ['json', json],
  ['python', python],
  ['rust', rust],
  ['sql', sql],
  ['typescript', typescript],
  ['xml', xml, 'vue', 'svelte', 'astro'],
  ['yaml', yaml],
];

for (const [languageName, language, ...similar] of LANGUAGES) {
  hljs.registerLanguage(languageName, language);
  hljs.registerAliases(similar, { languageName });
}

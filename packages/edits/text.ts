/** The text of a file, as tools show it: its encoding, its lines and their numbers. */
export { decode } from './encoding.ts';
export { numberLine } from './line-numbers.ts';
export { countLines, lineTexts, lineTextsFrom } from './lines.ts';
export { hasMark } from './transcode.ts';

/** Text inside Markdown, so that it can neither end nor become markup (CommonMark 0.31). Pure. */

/** A code block whose fence is longer than any run of backticks inside. The last line of `code` has no line end. */
export function fence(language: string, code: string): string {
  const marks = '`'.repeat(Math.max(3, longestRun(code) + 1));
  const body = code === '' ? '' : `${code}\n`;
  return `${marks}${language.replace(/[`\s]/g, '')}\n${body}${marks}`;
}

/** The same for a whole file or output, whose last line may have its line end. */
export function fenceText(language: string, text: string): string {
  return fence(language, text.replace(/\n$/, ''));
}

/** Without blank lines before it and white space behind it: what is indented stays so. */
export function trimLines(text: string): string {
  return text.trimEnd().replace(/^\s*\n/, '');
}

/** Code in a line: a path, a name. */
export function codeSpan(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  const marks = '`'.repeat(longestRun(line) + 1);
  return marks.length > 1 ? `${marks} ${line} ${marks}` : `${marks}${line}${marks}`;
}

/** Plain text in a line. */
export function escapeInline(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]<>#|&~]/g, '\\$&');
}

/** Text for a place where HTML is read: a summary. */
function escapeHtml(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

/** A block quote. Its text is Markdown, and what it leaves open ends with it. */
export function quote(text: string): string {
  return text
    .split(/\r\n|[\r\n]/)
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n');
}

/** Folded away until it is opened; `body` is Markdown. */
export function details(summary: string, body: string): string {
  return `<details>\n<summary>${escapeHtml(summary)}</summary>\n\n${body}\n\n</details>`;
}

function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);
}

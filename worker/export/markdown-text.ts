/** Embeds text in Markdown, so that it can neither end nor become markup (CommonMark 0.31). Pure. */

/** A code block whose fence is longer than any run of backticks inside. `code` must not end with a line end. */
export function fence(language: string, code: string): string {
  const marks = '`'.repeat(Math.max(3, longestRun(code) + 1));
  const body = code === '' ? '' : `${code}\n`;
  return `${marks}${language.replace(/[`\s]/g, '')}\n${body}${marks}`;
}

/** {@link fence} for a whole file or output, which may end with a line end. */
export function fenceText(language: string, text: string): string {
  return fence(language, text.replace(/\n$/, ''));
}

/** Removes blank lines at the start and white space at the end. Keeps the first line's indentation. */
export function trimLines(text: string): string {
  return text.trimEnd().replace(/^\s*\n/, '');
}

/** Inline code, for a path or a name. */
export function codeSpan(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  const marks = '`'.repeat(longestRun(line) + 1);
  return marks.length > 1 ? `${marks} ${line} ${marks}` : `${marks}${line}${marks}`;
}

/** Plain text within a line. */
export function escapeInline(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]<>#|&~]/g, '\\$&');
}

/** Text inside the HTML element `summary`. */
function escapeHtml(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

/** A block quote. `text` is Markdown; markup that it leaves open ends with the quote. */
export function quote(text: string): string {
  return text
    .split(/\r\n|[\r\n]/)
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n');
}

/** A section that the reader can unfold. `body` is Markdown. */
export function details(summary: string, body: string): string {
  return `<details>\n<summary>${escapeHtml(summary)}</summary>\n\n${body}\n\n</details>`;
}

function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);
}

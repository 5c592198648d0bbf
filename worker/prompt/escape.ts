/** Puts text from outside into a tag of a prompt, so that it cannot close the tag. */

/** `tag` may have attributes. */
export function tagged(tag: string, text: string): string {
  return `<${tag}>\n${escapeText(text)}\n</${tag.split(' ')[0]}>`;
}

/** Text that can stand between tags. Halves of surrogate pairs are replaced: servers refuse requests that have any. */
export function escapeText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

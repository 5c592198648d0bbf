/** Puts text from outside into a tag of a prompt, so that it cannot close the tag. */

/** `tag` may have attributes. */
export function tagged(tag: string, text: string): string {
  return `<${tag}>\n${escapeText(text)}\n</${tag.split(' ')[0]}>`;
}

/** As {@link tagged}, but keeps characters: only the tag's own name is closed to the text, however it is written. */
export function taggedAsIs(tag: string, text: string): string {
  const name = [...tag].join(`${UNSEEN}*`);
  const own = new RegExp(`<(?=(?:/|${UNSEEN})*${name})`, 'giu');
  return `<${tag}>\n${text.replace(own, '&lt;')}\n</${tag}>`;
}

const UNSEEN = '[\\s\\p{Default_Ignorable_Code_Point}\\p{Cc}]';

/** Text that can stand between tags. Halves of surrogate pairs are replaced: servers refuse requests that have any. */
export function escapeText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

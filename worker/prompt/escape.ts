/** Text from outside inside a prompt: labelled by its tag, and unable to close it. */

export function tagged(tag: string, text: string): string {
  return `<${tag}>\n${escapeText(text)}\n</${tag}>`;
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Makes the file name under which a browser saves an export. Pure. */

const MAX_CHARS = 60;

/** The value of `content-disposition` (RFC 6266): an ASCII name for old browsers, and the full name for others. */
export function attachmentNamed(title: string, extension: string): string {
  const name = safeName(title);
  const ascii = safeName(name.normalize('NFKD').replace(/[^\x20-\x7e]/g, ''));
  return `attachment; filename="${ascii}.${extension}"; filename*=UTF-8''${encodeRfc5987(name)}.${extension}`;
}

/** Letters and digits of any script, joined by hyphens. No character has a meaning in a file system or a header. */
function safeName(title: string): string {
  const words = title.toWellFormed().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const name = Array.from(words.join('-')).slice(0, MAX_CHARS).join('');
  return name.replace(/-+$/, '') || 'conversation';
}

/** RFC 5987, section 3.2. Also encodes the few characters that encodeURIComponent leaves and the RFC forbids. */
function encodeRfc5987(name: string): string {
  return encodeURIComponent(name).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

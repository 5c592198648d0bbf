/** The name under which a browser saves an export. Pure. */

const MAX_CHARS = 60;

/** The value of `content-disposition` (RFC 6266): a name for old readers, and the title's own letters for the others. */
export function attachmentNamed(title: string, extension: string): string {
  const name = safeName(title);
  const ascii = safeName(name.normalize('NFKD').replace(/[^\x20-\x7e]/g, ''));
  return `attachment; filename="${ascii}.${extension}"; filename*=UTF-8''${encodeRfc5987(name)}.${extension}`;
}

/** Letters, digits and hyphens of any script: nothing that a file system or a header could take for something else. */
function safeName(title: string): string {
  const words = title.toWellFormed().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const name = Array.from(words.join('-')).slice(0, MAX_CHARS).join('');
  return name.replace(/-+$/, '') || 'conversation';
}

/** RFC 5987, section 3.2: encodeURIComponent leaves a few characters that do not belong there. */
function encodeRfc5987(name: string): string {
  return encodeURIComponent(name).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Reads the `file:` URIs that editors write for their folders. */

/**
 * The path of a `file:` URI (RFC 8089); any other text as it is. So is that of a drive
 * or a share of Windows, because no path of this form means it.
 */
export function pathOfFileUri(written: string): string {
  const [, path] = FILE_URI.exec(written) ?? [];
  if (path === undefined) return written;
  try {
    return decodeURIComponent(path);
  } catch {
    return written;
  }
}

const FILE_URI = /^file:\/\/(?:localhost)?(\/(?![A-Z](?:[:|]|%3A|%7C)).*)$/is;

/** Saves text as a file of this device. */
export function download(name: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text]));
  link.download = name.replaceAll(/[^\p{L}\p{N} ._-]/gu, '_');
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Makes small PDFs, and hostile ones. */

/** Text, or the stream of a page as it is. */
export type Page = string | { readonly filter: string; readonly stream: Uint8Array };

/** `trailer` has further members of the file's trailer. */
export function pdfOf(pages: readonly Page[], trailer = ''): Buffer {
  const bodies: Buffer[] = [];
  const add = (...parts: (string | Uint8Array)[]) =>
    bodies.push(Buffer.concat(parts.map((part) => Buffer.from(part))));
  const refs = pages.map((_, index) => `${2 * index + 5} 0 R`);
  add('<< /Type /Catalog /Pages 2 0 R >>');
  add(`<< /Type /Pages /Kids [${refs.join(' ')}] /Count ${pages.length} >>`);
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>');
  for (const [index, page] of pages.entries()) {
    const { filter, stream } =
      typeof page === 'string' ? { filter: '', stream: Buffer.from(drawn(page)) } : page;
    add(`<< ${filter} /Length ${stream.length} >>\nstream\n`, stream, '\nendstream');
    const font = '/Resources << /Font << /F1 3 0 R >> >>';
    const box = '/MediaBox [0 0 612 792]';
    add(`<< /Type /Page /Parent 2 0 R ${box} /Contents ${2 * index + 4} 0 R ${font} >>`);
  }
  return assembled(bodies, trailer);
}

function drawn(text: string): string {
  const lines = text.split('\n').map((line) => `(${line.replace(/[\\()]/g, '\\$&')}) Tj T*`);
  return `BT /F1 12 Tf 72 720 Td 14 TL ${lines.join(' ')} ET`;
}

function assembled(bodies: readonly Buffer[], trailer: string): Buffer {
  const offsets: string[] = [];
  let file = Buffer.from('%PDF-1.4\n');
  for (const [index, body] of bodies.entries()) {
    offsets.push(`${String(file.length).padStart(10, '0')} 00000 n \n`);
    file = Buffer.concat([
      file,
      Buffer.from(`${index + 1} 0 obj\n`),
      body,
      Buffer.from('\nendobj\n'),
    ]);
  }
  const size = bodies.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join('')}`;
  const end = `trailer << /Size ${size} /Root 1 0 R ${trailer} >>\nstartxref\n${file.length}\n%%EOF\n`;
  return Buffer.concat([file, Buffer.from(table + end)]);
}

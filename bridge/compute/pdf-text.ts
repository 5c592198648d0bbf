/** The text of a PDF, page by page. */

import { tooLarge } from '../../machine/compute/too-complex.ts';
import { ToolFailure } from '../../machine/failure.ts';
import { TOOL_LIMITS } from '../../shared/limits.ts';
import { printable } from '../../shared/text/plain-sight.ts';
import type { FileView, ShownLines } from './file-view.ts';
import { PDF_LIMITS } from './limits.ts';

/** Whether the file is a PDF, whatever its name. */
export function isPdf(bytes: Uint8Array): boolean {
  return MARK.every((byte, index) => bytes[index] === byte);
}

const MARK = Buffer.from('%PDF-');

/**
 * The pages from `offset` on, as many as fit; the range counts pages. Failures: `PDF_LOCKED`, `PDF_BROKEN`,
 * `OFFSET_PAST_END`. Only for a process that can be ended: a hostile file takes any time and memory.
 */
export async function showPdf({
  name,
  bytes,
  offset = 1,
  limit = PDF_LIMITS.maxPages,
  maxChars = TOOL_LIMITS.maxResultChars,
}: FileView): Promise<ShownLines> {
  // A third of the program's size, which only a PDF needs.
  const { getDocument } = await import('unpdf/pdfjs');
  const loading = getDocument({
    data: new Uint8Array(bytes),
    disableFontFace: true,
    useSystemFonts: false,
    // A PDF can hold functions, which the library would compile to JavaScript.
    isEvalSupported: false,
    verbosity: 0,
  });
  try {
    const pdf = await loading.promise;
    const first = offset < 0 ? Math.max(1, pdf.numPages + offset + 1) : Math.max(1, offset);
    if (first > pdf.numPages) throw pastEnd(name, pdf.numPages, offset);
    const most = Math.min(pdf.numPages, first + Math.min(limit, PDF_LIMITS.maxPages) - 1);
    const pages: string[] = [];
    for (let left = maxChars, at = first; at <= most && left > 0; at++) {
      const { items } = await (await pdf.getPage(at)).getTextContent();
      const text = items.map((item) => ('str' in item ? lineOf(item) : '')).join('');
      const shown = printable(text).trim() || '(no text: an image, or a scan)';
      const page = `[page ${at} of ${pdf.numPages}]\n${shown}`;
      // Of the first page there is at least a part.
      if (page.length > left && at > first) break;
      pages.push(page.length > left ? `${page.slice(0, left).toWellFormed()}\n(cut)` : page);
      left -= page.length;
    }
    const last = first + pages.length - 1;
    const range = { startLine: first, endLine: last, totalLines: pdf.numPages };
    return { text: pages.join('\n\n') + describeRest(range), range };
  } catch (error) {
    throw error instanceof ToolFailure ? error : failureOf(name, error);
  } finally {
    await loading.destroy();
  }
}

function lineOf({ str, hasEOL }: { readonly str: string; readonly hasEOL: boolean }): string {
  return hasEOL ? `${str}\n` : str;
}

function describeRest({ startLine, endLine, totalLines }: ShownLines['range']): string {
  if (startLine === 1 && endLine === totalLines) return '';
  const next = endLine < totalLines ? ` Read on with offset ${endLine + 1}.` : '';
  return `\n(Pages ${startLine} to ${endLine} of ${totalLines}.${next})`;
}

function pastEnd(name: string, pages: number, offset: number): ToolFailure {
  return new ToolFailure(
    'OFFSET_PAST_END',
    `${name} has ${pages} pages, so there is no page ${offset}: of a PDF, offset and limit count pages.`,
  );
}

/** The library throws classes of its own, and plain errors for what it did not expect of a file. */
function failureOf(name: string, cause: unknown): ToolFailure {
  // The words of the engine where the system gives no more memory.
  if (/\ballocation failed\b/i.test(String(cause))) return tooLarge(cause);
  const isLocked = cause instanceof Error && cause.name === 'PasswordException';
  return isLocked
    ? new ToolFailure('PDF_LOCKED', `${name} needs a password: ask the person for its text.`, {
        cause,
      })
    : new ToolFailure('PDF_BROKEN', `${name} begins like a PDF and cannot be read.`, { cause });
}

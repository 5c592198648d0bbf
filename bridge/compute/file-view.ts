/** What is asked of a file as read_file shows it, and the answer. */

export interface FileView {
  /** The file's name as the model sees it, see nameInLine. */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** As read_file takes them. */
  readonly offset: number | undefined;
  readonly limit: number | undefined;
  /** UTF-16 units of the shown lines. */
  readonly maxChars?: number;
}

export interface ShownLines {
  readonly text: string;
  /** Of a PDF: pages. */
  readonly range: {
    readonly startLine: number;
    readonly endLine: number;
    readonly totalLines: number;
  };
}

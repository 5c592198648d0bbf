/** How much of a long text the page shows at once. */
import { KIB, MIB } from '../../shared/units.ts';

export const PART_LIMITS = {
  /** Lines of output before a person asks for more: enough for the summary that test runners end with. */
  outputLines: 12,
  /** Lines that one press of the button adds: a browser lays them out in some 50 ms. */
  moreOutputLines: 2_000,
  /** Rows of a diff before a person asks for all. */
  diffRows: 30,
  /** UTF-16 units of code that get colours: the highlighter needs about 1 ms for each KiB. */
  highlightedChars: 50 * KIB,
  /** UTF-16 units of one text node. A browser copies the whole node for each piece that it gets. */
  textNodeChars: 2 * KIB,
  /** Lines of code in one box. A browser lays out the whole box for each piece that it gets. */
  codeBoxLines: 50,
  /**
   * UTF-16 units of Markdown that are shown at once, and that one press of the button adds. The parser's time grows with
   * the square of a run of digits or of one mark: 64 KiB take 0.2 s, as long as other texts of a megabyte.
   */
  markdownChars: 64 * KIB,
  /** Elements inside each other: a browser lays out nested elements recursively. */
  markdownDepth: 40,
  /** Cells of a row of a table; the last one has the text of the rest. 60,000 take a browser seven seconds. */
  tableColumns: 100,
  /** UTF-16 units of what an MCP server says of a tool: a person reads some lines. */
  toolDescriptionChars: 600,
  /** UTF-16 units of an address whose parentheses are counted, again for each. */
  addressChars: 2_000,
  /** UTF-16 units of an image inside a text. */
  imageChars: MIB,
} as const;

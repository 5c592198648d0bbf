/** The limits of reading contents. */

/** Reading a PDF. */
export const PDF_LIMITS = {
  /** Pages of one read: the text of some 20 fills a result, and each takes some 10 ms. */
  maxPages: 50,
} as const;

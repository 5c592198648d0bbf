/** The limits of texts that programs write. A file of its own: a web page that reads JSON needs no other limits. */

/** The levels of objects and arrays in JSON; the outermost is level 1. */
export const JSON_LIMITS = {
  /** For JSON from outside. Tools' arguments nest some five levels, schemas some twenty, recursion takes thousands. */
  maxDepth: 64,
  /** Levels that Drawbridge's frames, events, rows and views put around it. A snapshot adds the most, eight. */
  envelope: 16,
  /** Levels of a list or an object that a model wrote as a text: no built-in tool takes more than four. */
  inText: 16,
  /** Levels shown with indentation, deeper ones in one line: enough for a document's arguments in an export. */
  shownDepth: 12,
  /** Steps of the path that shows where JSON is too deep. */
  shownPath: 6,
  /** UTF-16 units of a name in that path: a client chooses the names. */
  shownKeyChars: 60,
} as const;

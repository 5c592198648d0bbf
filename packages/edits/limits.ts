import { KIB } from '../../shared/units.ts';

/** The limits of edits and of shown differences. */
export const EDIT_LIMITS = {
  /** Bytes at the start of a file: a NUL among them makes it binary, as for git and grep. */
  binaryProbeBytes: 8 * KIB,
  /** Lines that an edit with markers may delete without naming them: no measured real commit needed more. */
  maxDeletedLines: 200,
  /** The time for the fine diff of one edit. After it the change is shown as one piece. */
  diffTimeoutMs: 200,
  /** UTF-16 units of a shown diff, old and new text together: far below a tunnel frame. */
  maxDiffChars: 400_000,
  /** UTF-16 units of a diff that spans several changes: a longer one is mostly unchanged lines, and is left out. */
  maxSpanningDiffChars: 8_000,
  /** UTF-16 units of the diff that an edit's result shows the model: some 700 tokens. A longer one is cut. */
  maxShownDiffChars: 2_000,
  /** UTF-16 units of a diff in a proposal: the proposal fits its row even if each unit takes six bytes. */
  maxProposedChars: 140_000,
  /** Lines quoted if an edit finds no place, and UTF-16 units of each line. */
  maxHintLines: 12,
  maxHintLineChars: 300,
  /** Lines of a file to edit: each takes some hundred bytes of memory. */
  maxEditedLines: 500_000,
  /** Places of one searched text: a large file contains millions of spaces. */
  maxPlaces: 1_000_000,
  /** Equal lines seen for one searched text: 0.1 s. Real edits need some hundreds. */
  maxEqualLines: 1_000_000,
  /** Equal lines seen for all blocks of an edit, about 0.4 s. Real edits need some thousands. */
  maxComparedLines: 400_000,
  /** The best places of one block of an edit, and choices of places for all blocks. Real edits have a handful. */
  maxMergePlaces: 1_000,
  maxMergeReadings: 100,
  /** Pieces of one shown change: more are harder to read than one whole, and each piece is an object on the wire. */
  maxHunks: 1_000,
  /** Line ranges named if a file has changed since it was read. */
  maxStaleRanges: 5,
} as const;

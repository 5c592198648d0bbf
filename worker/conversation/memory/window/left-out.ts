/** The parts of a conversation that a model does not get, because its server refused a request with them. Pure. */

import { imagesOf, textOf } from '../../../../shared/api/requests.ts';
import type { Findings } from '../../../../shared/wire/findings.ts';
import type { LeftPart, SentResult } from '../../store/rows.ts';
import type { LeavingOut, Piece, SentRun, Utterance } from './transcript.ts';

/** The parts, as a request is made without them. The stored messages stay as they are. */
export class LeftOut implements LeavingOut {
  readonly key: string;
  readonly before: number;
  readonly #runs: ReadonlySet<number>;
  readonly #found: ReadonlySet<number>;
  readonly #results: ReadonlySet<number>;

  constructor(parts: readonly LeftPart[]) {
    const of = (type: LeftPart['type']) =>
      new Set(parts.filter((part) => part.type === type).map(({ number }) => number));
    this.key = JSON.stringify(parts);
    this.before = Math.max(0, ...of('before'));
    this.#runs = of('run');
    this.#found = of('found');
    this.#results = of('results');
  }

  /** The pieces without the parts. A note stands for each part, or for several in a row. */
  without(pieces: readonly Piece[]): readonly Piece[] {
    if (this.key === '[]') return pieces;
    const kept: Piece[] = [];
    let isNoted = false;
    for (const piece of pieces) {
      if (!this.#isLeft(piece.run)) {
        isNoted = false;
        kept.push(this.#withoutParts(piece));
      } else if (!isNoted) {
        isNoted = true;
        kept.push({ ...piece, utterances: [EARLIER], answered: null });
      }
    }
    return kept;
  }

  #isLeft({ ordinal }: SentRun): boolean {
    return ordinal < this.before || this.#runs.has(ordinal);
  }

  #withoutParts(piece: Piece): Piece {
    const { answered, utterances, run } = piece;
    const isTurnLeft = answered !== null && this.#results.has(answered.turn.number);
    const isFoundLeft = this.#found.has(run.ordinal);
    if (!isTurnLeft && !isFoundLeft) return piece;
    const results = answered?.results.map((result) => result && withoutData(result)) ?? [];
    const { findings: _, ...machine } = run.machine ?? { context: undefined };
    const { context } = machine;
    return {
      ...piece,
      ...(isTurnLeft && { answered: { ...answered, results } }),
      ...(isFoundLeft && {
        run: { ...run, machine: context ? { context } : null },
        utterances: utterances.map(withWordsAlone),
      }),
    };
  }
}

/** Whether the message has more than words: pictures, or what it names. */
export function hasFound({ run, utterances }: Piece): boolean {
  return (
    Object.entries(run.machine?.findings ?? {}).some(
      ([name, found]) =>
        HAS_CONTENTS[name as keyof Findings] && Array.isArray(found) && found.length > 0,
    ) ||
    utterances.some(({ message, attachments = [] }) => {
      return imagesOf(message.content).length > 0 || attachments.length > 0;
    })
  );
}

/** The findings with contents, for which a server can have refused the request. The others only name and count. */
const HAS_CONTENTS: Readonly<Record<keyof Findings, boolean>> = {
  attachments: true,
  openFiles: true,
  changed: true,
  passages: true,
  touched: false,
  unnamed: false,
  diagnostics: false,
  client: false,
  clientFolder: false,
  worktree: false, // It stands in the machine's context.
};

function withWordsAlone({ message, attachments: _, ...utterance }: Utterance): Utterance {
  const count = imagesOf(message.content).length;
  const note = count === 0 ? FILES_REFUSED : `[${count} image(s), left out: ${WHY}]`;
  const content = `${textOf(message.content)}\n${note}`.trimStart();
  return { ...utterance, message: { ...message, content } };
}

function withoutData(result: SentResult): SentResult {
  const { images: _, ...metadata } = result.metadata ?? {};
  return { status: 'success', data: RESULT_REFUSED, metadata };
}

const WHY = 'the model server refused them';
const FILES_REFUSED = `[What this message names is left out: ${WHY}.]`;
const RESULT_REFUSED = `[The result of this call is left out: the model server refused it.]`;
const EARLIER: Utterance = {
  as: 'plain',
  message: {
    role: 'user',
    content: `[Earlier messages and answers are left out here: ${WHY}.]`,
  },
  isNote: true,
};

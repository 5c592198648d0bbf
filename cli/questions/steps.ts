/**
 * What a person is asked, one step after the other: the parts that are shown, the choices and what each means, the
 * checks of what is written. The whole screen draws a step as a dialog, the line mode asks for a line.
 */
import type { Style } from '../terminal/paint.ts';
import type { ProposedFile, Saved } from './changed-file.ts';

/** Asks at one terminal. All throw {@link Withdrawn} once the question is over. */
export interface Prompter {
  /** What the person chose; undefined if they went back. */
  choose<Answer>(step: ChoiceStep<Answer>): Promise<Chosen<Answer> | undefined>;
  /** What the person wrote, without blanks at its ends; undefined if they went back. */
  write(step: FieldStep): Promise<string | undefined>;
  /** What the person made of the file with an editor; undefined if they went back. */
  change(file: ProposedFile): Promise<Saved | undefined>;
}

/** The question was answered elsewhere, is not asked any more, or its terminal is closed. */
export class Withdrawn extends Error {}

/** One line, in plain sight and without a line feed. */
export interface Line {
  readonly text: string;
  readonly style?: Style;
}

/** What a dialog shows of a step. The line mode has shown the same above. */
export interface StepParts {
  /** Of the program: it is cut on a narrow screen. */
  readonly title: string;
  /** What the person reads first. */
  readonly body: readonly Line[];
  /** Something new about this step, for example why the last answer did not do. In plain sight. */
  readonly note?: string | undefined;
  /** Esc puts the dialog away, and the step stays; otherwise it goes back. */
  readonly putsAway?: boolean;
  /** What stands here is new: keys pressed before do not count. */
  readonly isNew?: boolean;
}

/** The person chooses one of a list. */
export interface ListStep<Answer> extends StepParts {
  readonly choices: readonly ListChoice<Answer>[];
  /** Space ticks several of this many first choices. */
  readonly tickable?: number;
  readonly ticked?: readonly number[] | undefined;
}

export interface ListChoice<Answer> {
  /** In plain sight. */
  readonly label: string;
  /** It takes all of the body: possible only after its end was on the screen. */
  readonly needsEnd?: boolean;
  readonly answer: Answer;
}

/** A choice, and the indexes of what was ticked. */
export interface Chosen<Answer> {
  readonly answer: Answer;
  readonly ticked: readonly number[];
}

/** A list that the line mode asks for too. `seen`: it takes the first choice, because it still shows the body. */
export interface ChoiceStep<Answer> extends ListStep<Answer> {
  readonly line: AskedLine<Answer> | 'seen';
}

/** How the line mode asks. */
export interface AskedLine<Answer> {
  /** Lines before the first time that it asks. */
  readonly above?: readonly string[];
  readonly words: string;
  /** What a typed line means. One that means nothing is asked for again, after the problem if there are words for it. */
  read(typed: string): ReadLine<Answer>;
}

export type ReadLine<Answer> = { readonly answer: Answer } | { readonly problem?: string };

/** The person writes one line. */
export interface FieldStep extends StepParts {
  /** What the field begins with. */
  readonly value?: string;
  /** How the line mode asks; by its title without it. */
  readonly line?: string;
  /** Why what was written does not do, in plain sight. */
  check?(written: string): string | undefined;
}

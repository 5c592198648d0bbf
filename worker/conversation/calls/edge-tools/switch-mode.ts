/** `switch_mode`: the question to the user, and the results that an answer gives. Pure. */
import type { Answer, Question } from '../../../../shared/wire/documents.ts';
import { failure, type ToolResult } from '../../../../shared/wire/tunnel.ts';

export interface Modes {
  readonly present: string;
  readonly all: readonly string[];
}

/** The question; the refusal of a mode that there is not, or that is the present one. */
export function askToSwitch(mode: string, { present, all }: Modes): Question[] | ToolResult {
  if (!all.includes(mode)) {
    const data = `There is no mode ${JSON.stringify(mode)}. The modes are ${all.join(', ')}.`;
    return failure('UNKNOWN_MODE', data);
  }
  if (mode === present) return failure('INVALID_ARGUMENTS', `The mode is ${mode} already.`);
  const options = [
    { id: ACCEPT, label: `Yes, go on in ${mode} mode` },
    { id: 'reject', label: `No, stay in ${present} mode` },
  ];
  return [{ id: 'switch', text: `Go on in ${mode} mode?`, options }];
}

const ACCEPT = 'accept';

/** Whether the user agreed. Only the option counts, whatever the user wrote beside it. */
export function agrees(answers: readonly Answer[]): boolean {
  return answers.some(({ optionIds }) => optionIds.includes(ACCEPT));
}

/** `answered` is the result that holds the user's own words. */
export function switchResult(mode: string, isSwitched: boolean, answered: ToolResult): ToolResult {
  const data = isSwitched ? `The user agreed: the mode is ${mode} now.` : STAYS;
  return { ...answered, data: `${answered.data}\n${data}` };
}

/** Also the whole result where no one answers: silence is no consent. */
export const STAYS =
  'The mode stays as it is. Do what you can in it, or end and say what is left; do not ask again.';

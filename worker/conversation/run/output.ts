/** The final answer of a run whose app wants JSON: checked, and asked for once more where it does not fit. Pure. */

import type { OutputForm } from '../../../shared/api/requests.ts';
import { parseJson } from '../../../shared/text/json.ts';
import { schemaCheck, UnusableSchema } from '../../../shared/text/json-schema.ts';
import type { Steer } from '../store/rows.ts';
import type { ErrorReport } from '../tape/error-document.ts';

/** The JSON of an answer, or why it is none. */
export type CheckedOutput = { readonly json: string } | { readonly problem: string };

/** Takes JSON that stands alone or in the only fence of the text. */
export function checkOutput(text: string, { schema }: OutputForm): CheckedOutput {
  const [, fenced] = /```(?:json)?\s*\n([\s\S]*?)\n\s*```/.exec(text) ?? [];
  for (const given of [text, ...(fenced === undefined ? [] : [fenced])]) {
    const value = jsonIn(given);
    if (value === undefined) continue;
    const problem = problemOf(value, schema);
    return problem === null ? { json: JSON.stringify(value) } : { problem };
  }
  return { problem: 'it is not JSON alone' };
}

function jsonIn(text: string): unknown {
  try {
    return parseJson(text.trim());
  } catch {
    return undefined;
  }
}

function problemOf(value: unknown, schema: OutputForm['schema']): string | null {
  if (!schema) {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? null : 'it is not a JSON object';
  }
  try {
    return schemaCheck(schema)(value);
  } catch (error) {
    if (error instanceof UnusableSchema) return null; // Nobody can check by it.
    throw error;
  }
}

/** What the model is told about an answer that does not fit. */
export function repairNote(problem: string): string {
  return `${REPAIR} ${problem}. Answer again with the JSON alone.]`;
}

/** Whether the model was told so before. */
export function wasRepaired(steers: readonly Steer[]): boolean {
  return steers.some(({ content, isNote }) => isNote && String(content).startsWith(REPAIR));
}

const REPAIR = '[Your answer does not have the form that was asked for:';

export const OUTPUT_INVALID: ErrorReport = {
  code: 'OUTPUT_INVALID',
  source: 'upstream',
  message: 'The model’s answer does not have the form that the request asks for.',
};

/**
 * TypeScript before version 7 has no answer of the protocol: its servers report by themselves, 0.8 s after a change. They
 * pass questions on to tsserver, which answers in some 15 ms.
 */
import * as z from 'zod';
import { Diagnostics, type Finding } from './findings.ts';

/** The command of typescript-language-server and vtsls that passes a question on. */
export const TSSERVER_COMMAND = 'typescript.tsserverRequest';

/** What `workspace/executeCommand` is asked for. Together the answers are all that is wrong in the file. */
export function tsserverQuestions(file: string) {
  return ['syntacticDiagnosticsSync', 'semanticDiagnosticsSync'].map((question) => ({
    command: TSSERVER_COMMAND,
    arguments: [question, { file }],
  }));
}

const SEVERITIES = { error: 1, warning: 2, suggestion: 4, message: 4 } as const;

const TsserverDiagnostic = z
  .object({
    /** Both count from 1. */
    start: z.object({ line: z.int().positive(), offset: z.int().positive() }),
    category: z.enum(['error', 'warning', 'suggestion', 'message']).catch('error'),
    code: z.number().optional().catch(undefined),
    text: z.string(),
  })
  .transform(({ start, category, code, text }) => ({
    range: { start: { line: start.line - 1, character: start.offset - 1 } },
    severity: SEVERITIES[category],
    source: 'typescript',
    code,
    message: text,
  }));

/** The answer to either question. vtsls gives null for a file of no project, where the other one refuses. */
export const TsserverAnswer = z
  .object({ body: z.array(TsserverDiagnostic) })
  .transform(({ body }): Finding[] => Diagnostics.parse(body))
  .nullable();

import * as z from 'zod';
import { defineTool } from './definition.ts';
import { toMeant } from './meant.ts';

/** Of an older form of the tool, which names the first and the last line and has no `limit`. */
const LAST_LINE = 'end_line_one_indexed_inclusive';

/** Reads a text file with its line numbers. */
export const readFile = defineTool({
  name: 'read_file',
  aliases: ['Read'],
  description:
    'Read a text file, an image, a PDF or a notebook of the workspace. Each line starts with its number as `N|`, which is not part of the file. ' +
    'Without offset and limit the result is the whole file, up to a bound that it names. Of a PDF, offset and limit count pages.',
  arguments: z.object({
    target_file: z.string().min(1).describe('Path of the file, relative to the workspace'),
    offset: z
      .int()
      .optional()
      .describe('First line to read, counted from 1; negative counts from the end'),
    limit: z.int().positive().optional().describe('How many lines to read'),
  }),
  renamed: {
    path: 'target_file',
    file_path: 'target_file',
    filePath: 'target_file',
    absolute_path: 'target_file',
    start_line_one_indexed: 'offset',
    start_line: 'offset',
    end_line: LAST_LINE,
  },
  ofOldForm: ({ [LAST_LINE]: last, should_read_entire_file: isWhole, ...args }) => {
    const { offset = 1, limit, ...others } = args;
    if (String(isWhole) === 'true') return others;
    if (last === undefined) return args;
    const [from, to] = [offset, last].map((line) => toMeant(line, { type: 'integer' }));
    const isRange = typeof from === 'number' && typeof to === 'number' && from > 0;
    return isRange && limit === undefined
      ? { ...args, limit: to - from + 1 }
      : { ...args, [LAST_LINE]: last };
  },
  effect: 'read',
  changesContent: false,
  listsPaths: false,
  heldWith: [],
  idempotent: true,
  executor: 'bridge',
  document: { type: 'tool_call' },
  subject: (args) => args.target_file,
});

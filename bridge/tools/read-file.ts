/** Runs read_file: shows a text file, or a part of it, with line numbers. */
import { nameInLine } from '../../shared/text/plain-sight.ts';
import type { readFile } from '../../shared/tools/read-file.ts';
import { compute } from '../compute/compute.ts';
import { readImage } from '../workspace/files.ts';
import type { ArgumentsOf, ToolExecutor } from './executor.ts';

/** Reading a part counts as reading the file: the remembered hash is that of the whole file. */
export const executeReadFile: ToolExecutor<ArgumentsOf<typeof readFile>> = async (
  args,
  { places: [place], ledger, conversationId, signal },
) => {
  const image = await readImage(place, signal);
  const name = nameInLine(place.name);
  const view = { name, bytes: image.bytes, offset: args.offset, limit: args.limit };
  const { text, range } = await compute('showFile', view, signal);
  ledger.remember(conversationId, place.path, image);
  return { status: 'success', data: text, metadata: { filePath: place.name, ...range } };
};

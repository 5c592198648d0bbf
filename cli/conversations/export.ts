/** `drawbridge export`: writes a conversation as one document. */
import { writeFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { createClient } from '../../client/index.ts';
import { LocalError } from '../../machine/local-error.ts';
import { indentedJson } from '../../shared/text/json.ts';
import { escapeControls, printable } from '../../shared/text/plain-sight.ts';
import { addTargetOptions, findTarget, type TargetOptions } from '../target/target.ts';
import { parseConversationId } from '../target/typed-ids.ts';

interface ExportOptions extends TargetOptions {
  readonly format: 'markdown' | 'json';
  readonly output?: string;
}

export function registerExport(program: Command): void {
  const command = program
    .command('export <id>')
    .description('Write a whole conversation to stdout or into a file')
    .addOption(
      new Option('--format <format>', 'markdown for people, json for programs')
        .choices(['markdown', 'json'])
        .default('markdown'),
    )
    .option('-o, --output <file>', 'write to this file, and replace it if it exists');
  addTargetOptions(command).action(async (id: string, options: ExportOptions) => {
    const conversationId = parseConversationId(id);
    const client = createClient(await findTarget(options));
    const text =
      options.format === 'markdown'
        ? await client.exportMarkdown(conversationId)
        : `${indentedJson(await client.exportConversation(conversationId))}\n`;
    await writeExport(text, options);
  });
}

/** Writes the exact text to a file or a pipe. On a terminal, makes control characters visible: they could mislead. */
async function writeExport(text: string, { format, output }: ExportOptions): Promise<void> {
  if (output !== undefined && output !== '-') return await writeOutput(output, text);
  const harmless = format === 'json' ? escapeControls(text) : printable(text);
  process.stdout.write(process.stdout.isTTY ? harmless : text);
}

async function writeOutput(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new LocalError('failed', `The export cannot be written: ${why}`, { cause });
  }
}

/** `drawbridge config edit`: a text that is not right is never saved, and never lost. */
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  configPath,
  noHome,
  notWritten,
  parseConfig,
  readText,
  writeConfig,
} from '../../local/config/config-file.ts';
import { withSchemaLink } from '../../local/config/edit.ts';
import { configSchemaText, SCHEMA_FILE } from '../../local/config/json-schema.ts';
import { LocalError } from '../../machine/local-error.ts';
import { makePrivateFolders, replaceFile } from '../../machine/private-files.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { editorIn, openEditor, USUAL_EDITOR } from '../terminal/editor.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** Edits a draft of the file, and saves it once it is right. @throws {LocalError} if not; the draft stays. */
export async function editConfig(terminal: Terminal, env: NodeJS.ProcessEnv): Promise<void> {
  const path = configPath(env);
  if (path === undefined) throw noHome();
  const draft = join(dirname(path), 'config.draft.json');
  const old = await readText(path);
  const unfinished = await readText(draft);
  if (unfinished !== undefined)
    terminal.write('This is the text of your last edit, which was not saved.\n');
  openDraft(draft, unfinished ?? old ?? EMPTY);
  const text = await editUntilRight(terminal, draft, env);
  if ((await readText(path)) !== old) {
    const reason = 'was changed while you edited it, so it is left as it is';
    throw new LocalError('failed', `${nameInLine(path)} ${reason}. ${keptIn(draft)}`);
  }
  if (text === old) terminal.write('Nothing is changed.\n');
  else writeConfig(path, withSchemaLink(text));
  rmSync(draft);
}

const EMPTY = `{\n  "$schema": "./${SCHEMA_FILE}"\n}\n`;

function openDraft(draft: string, text: string): void {
  try {
    makePrivateFolders(dirname(draft));
    // The editor reads the schema while the person writes.
    replaceFile(join(dirname(draft), SCHEMA_FILE), configSchemaText());
    replaceFile(draft, text);
  } catch (cause) {
    throw notWritten(draft, cause);
  }
}

/** The text of the draft once it is right. */
async function editUntilRight(
  terminal: Terminal,
  draft: string,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  for (;;) {
    await runEditor(editorOf(terminal, env), draft);
    try {
      const text = (await readText(draft)) ?? '';
      parseConfig(text, draft);
      return text;
    } catch (error) {
      if (!(error instanceof LocalError)) throw error;
      const problem = `Not saved: ${error.message}`;
      if (!terminal.isInteractive) throw new LocalError('refused', `${problem} ${keptIn(draft)}`);
      terminal.write(`${problem}\n`);
      const answer = await terminal.ask('Edit it again? y or n: ');
      if (!/^\s*y(?:es)?\s*$/i.test(answer ?? '')) throw new LocalError('refused', keptIn(draft));
    }
  }
}

function keptIn(draft: string): string {
  return `Your text is kept in ${nameInLine(draft)}: \`config edit\` goes on with it.`;
}

function editorOf({ isInteractive }: Terminal, env: NodeJS.ProcessEnv): string {
  const editor = editorIn(env) ?? (isInteractive ? USUAL_EDITOR : undefined);
  if (editor !== undefined) return editor;
  throw new UsageError('There is no editor: set VISUAL or EDITOR to the command that opens one.');
}

async function runEditor(editor: string, draft: string): Promise<void> {
  if (await openEditor(editor, draft)) return;
  throw new LocalError(
    'failed',
    `The editor (${nameInLine(editor)}) failed, so nothing is saved. ${keptIn(draft)}`,
  );
}

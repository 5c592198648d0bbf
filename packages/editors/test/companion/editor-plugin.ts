/** A plugin that makes an editor the IDE of Gemini CLI and Qwen Code. docs/companion.md shows this file. */
import { CompanionServer } from '../../companion/index.ts';

/** What the plugin needs of its editor. */
export interface Editor {
  readonly name: string;
  folders(): string[];
  /** The files that are open. Lines and columns count from 0 in this editor. */
  tabs(): {
    path: string;
    focusedAt: Date;
    hasFocus: boolean;
    caret: { line: number; column: number };
    selection: string;
  }[];
  /** The errors and warnings that it shows of a file. Lines and columns count from 0 here, too. */
  problems(path: string): {
    at: { line: number; column: number };
    isError: boolean;
    text: string;
    linter: string;
  }[];
  /** Shows a file beside a proposal of it. */
  showDiff(path: string, proposal: string): DiffView;
  setTerminalVariables(variables: Readonly<Record<string, string>>): void;
  /** Calls the listener after each change of folders, tabs, caret or selection. */
  onChange(listener: () => void): void;
}

interface DiffView {
  /** The proposal, as the person has changed it. */
  text(): string;
  /** Resolves when the person has chosen; closing the view by hand counts as no. */
  readonly choice: Promise<'yes' | 'no'>;
  close(): void;
}

/** Returns what ends the plugin. */
export async function activate(editor: Editor): Promise<() => Promise<void>> {
  const companion = await CompanionServer.start({
    roots: editor.folders(),
    ide: { name: editor.name.toLowerCase(), displayName: editor.name },
    onDiff: async ({ filePath, newContent }, signal) => {
      const view = editor.showDiff(filePath, newContent);
      // The CLI closes the diff, for example because the person has answered there.
      const isClosed = new Promise<'closed'>((resolve) => {
        signal.addEventListener('abort', () => resolve('closed'));
      });
      const choice = await Promise.race([view.choice, isClosed]);
      const content = view.text();
      view.close();
      return choice === 'no' ? { decision: 'rejected' } : { decision: 'accepted', content };
    },
    diagnose: (path) =>
      editor.problems(path).map(({ at, isError, text, linter }) => ({
        line: at.line + 1,
        column: at.column + 1,
        severity: isError ? 'error' : 'warning',
        message: text,
        source: linter,
      })),
  });
  const update = () => {
    companion.setRoots(editor.folders());
    editor.setTerminalVariables(companion.environment);
    companion.contextChanged({
      openFiles: editor.tabs().map(({ path, focusedAt, hasFocus, caret, selection }) => ({
        path,
        timestamp: focusedAt.getTime(),
        isActive: hasFocus,
        cursor: { line: caret.line + 1, character: caret.column + 1 },
        selectedText: selection,
      })),
    });
  };
  update();
  editor.onChange(update);
  return () => companion.close();
}

/** Opens a file in the person's editor. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Where the environment names none. */
export const USUAL_EDITOR = 'vi';

/** The command that the environment names, which may have arguments: `code --wait`. */
export function editorIn({ VISUAL, EDITOR }: NodeJS.ProcessEnv): string | undefined {
  return VISUAL || EDITOR || undefined;
}

/** Gives the terminal to the editor until it ends. Resolves to whether it ended well. */
export async function openEditor(editor: string, file: string): Promise<boolean> {
  // A shell runs it, because the command may have arguments.
  const words = ['-c', `${editor} "$@"`, editor, file];
  return await withInterruptsElsewhere(async () => {
    const [code] = await once(spawn('sh', words, { stdio: 'inherit' }), 'close');
    return code === 0;
  });
}

/** Ctrl-C reaches every program of the terminal; this one leaves it to the program that `work` runs. */
export async function withInterruptsElsewhere<Result>(
  work: () => Promise<Result>,
): Promise<Result> {
  const ignore = () => {};
  process.on('SIGINT', ignore);
  try {
    return await work();
  } finally {
    process.off('SIGINT', ignore);
  }
}

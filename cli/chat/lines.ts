/** Asks the steps of a question by lines. What they are about stands above, in the answer. */
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { type ProposedFile, putForChange } from '../questions/changed-file.ts';
import { type Prompter, Withdrawn } from '../questions/steps.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The signal withdraws the question. */
export function prompterByLines(terminal: Terminal, signal: AbortSignal): Prompter {
  const say = (line: string) => terminal.write(`${line}\n`);
  const ask = async (words: string) => {
    const typed = await terminal.ask(words, signal);
    if (typed === undefined) throw new Withdrawn();
    return typed;
  };
  return {
    async choose({ choices, line }) {
      const [first] = choices;
      if (line === 'seen') return first && { answer: first.answer, ticked: [] };
      for (const above of line.above ?? []) say(above);
      for (;;) {
        const read = line.read(await ask(line.words));
        if ('answer' in read) return { answer: read.answer, ticked: [] };
        if (read.problem !== undefined) say(read.problem);
      }
    },
    async write({ title, line = `${title}: `, check }) {
      for (;;) {
        const written = (await ask(line)).trim();
        const problem = check?.(written);
        if (problem === undefined) return written;
        say(problem);
      }
    },
    async change(file) {
      const content = await askForChangedFile(terminal, file, signal);
      return content === undefined ? undefined : { content };
    },
  };
}

/** The changed text of the file, from a private temporary folder, once the person says that it is right. */
export async function askForChangedFile(
  terminal: Terminal,
  proposed: ProposedFile,
  signal: AbortSignal,
): Promise<string | undefined> {
  await using put = await putForChange(proposed);
  terminal.write(`Change and save this file: ${inOneLine(put.file)}\n`);
  while (true) {
    const typed = await terminal.ask('Enter writes it as you saved it; n goes back: ', signal);
    if (typed === undefined || typed.trim() !== '') return undefined;
    const changed = await put.read();
    if ('content' in changed) return changed.content;
    terminal.write(`${changed.why}\n`);
  }
}

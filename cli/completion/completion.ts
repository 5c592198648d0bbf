/** `drawbridge completion`: prints a script with which a shell completes the command's words. */

import { Argument, type Command } from 'commander';
import { printOut } from '../terminal/print.ts';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { type CommandWords, wordsOf } from './tree.ts';
import { zshScript } from './zsh.ts';

const SCRIPTS: Readonly<Record<string, (commands: readonly CommandWords[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

export function registerCompletion(program: Command): void {
  program
    .command('completion')
    .description('Print the script with which your shell completes words of drawbridge')
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(SCRIPTS)))
    .addHelpText('after', HOW)
    .action((shell: string) => {
      printOut(SCRIPTS[shell]?.(wordsOf(program)) ?? '');
    });
}

const HOW = `
Write one of these lines into the file that your shell reads at its start:
  ~/.bashrc                   eval "$(drawbridge completion bash)"
  ~/.zshrc (below compinit)   eval "$(drawbridge completion zsh)"
  ~/.config/fish/config.fish  drawbridge completion fish | source`;

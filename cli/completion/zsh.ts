/** The completion script for zsh. */
import { shellWord } from '../../machine/shell-word.ts';
import { type CommandWords, type OptionWords, stepsOf } from './tree.ts';

/** Works both as a file `_drawbridge` in `$fpath` and when it is sourced. */
export function zshScript(commands: readonly CommandWords[]): string {
  return `#compdef drawbridge
# Completion of drawbridge for zsh. Load it with: eval "$(drawbridge completion zsh)"
_drawbridge() {
  local at='drawbridge' before="\${words[CURRENT-1]}" i
  local -a list
  for ((i = 2; i < CURRENT; i++)); do
    case "$at \${words[i]}" in
      (${stepsOf(commands)}) at="$at \${words[i]}" ;;
    esac
  done
  case "$at $before" in
${commands.flatMap(({ path, options }) => options.flatMap((option) => valueCase(path, option))).join('\n')}
  esac
  case "$at" in
${commands.map(wordsCase).join('\n')}
  esac
  if (( \${#list} )); then _describe -V drawbridge list; else _files; fi
}
if [[ "$funcstack[1]" == _drawbridge ]]; then _drawbridge "$@"; else compdef _drawbridge drawbridge; fi
`;
}

function valueCase(path: string, { names, value }: OptionWords): string[] {
  if (value.kind === 'none') return [];
  const patterns = names.map((name) => shellWord(`${path} ${name}`)).join('|');
  switch (value.kind) {
    case 'choice':
      return [`    (${patterns}) compadd -- ${value.words.map(shellWord).join(' ')}; return ;;`];
    case 'path':
      return [`    (${patterns}) _files; return ;;`];
    case 'text':
      return [`    (${patterns}) return ;;`];
  }
}

function wordsCase({ path, subcommands, choices, options }: CommandWords): string {
  const first = [
    ...subcommands.map(({ name, description }) => described(name, description)),
    ...choices.map(shellWord),
  ].join(' ');
  const flags = options
    .flatMap(({ names, description }) => names.map((name) => described(name, description)))
    .join(' ');
  const list = `list=(${first}); [[ "\${words[CURRENT]}" == -* ]] && list=(${flags})`;
  return `    (${shellWord(path)}) ${list} ;;`;
}

function described(name: string, description: string): string {
  return shellWord(`${name}:${description}`);
}

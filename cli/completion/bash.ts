/** The completion script for bash. */
import { shellWord } from '../../machine/shell-word.ts';
import { type CommandWords, type OptionWords, stepsOf } from './tree.ts';

/** Needs no other package: bash-completion may be missing, as on macOS. */
export function bashScript(commands: readonly CommandWords[]): string {
  return `# Completion of drawbridge for bash. Load it with: eval "$(drawbridge completion bash)"
_drawbridge() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} at='drawbridge' words='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${stepsOf(commands)}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at $before" in
${commands.flatMap(({ path, options }) => options.flatMap((option) => valueCase(path, option))).join('\n')}
  esac
  case "$at" in
${commands.map(wordsCase).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o bashdefault -o default -F _drawbridge drawbridge
`;
}

/** Without words bash completes file names by itself. */
function valueCase(path: string, { names, value }: OptionWords): string[] {
  if (value.kind === 'none') return [];
  const patterns = names.map((name) => shellWord(`${path} ${name}`)).join('|');
  if (value.kind !== 'choice') return [`    ${patterns}) return ;;`];
  const words = shellWord(value.words.join(' '));
  return [`    ${patterns}) COMPREPLY=($(compgen -W ${words} -- "$current")); return ;;`];
}

function wordsCase({ path, subcommands, choices, options }: CommandWords): string {
  const first = [...subcommands.map(({ name }) => name), ...choices].join(' ');
  const flags = options.flatMap(({ names }) => names).join(' ');
  return `    ${shellWord(path)}) words=${shellWord(first)}; [[ $current == -* ]] && words=${shellWord(flags)} ;;`;
}

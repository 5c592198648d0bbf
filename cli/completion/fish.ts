/** The completion script for fish. */
import { shellWord } from '../../machine/shell-word.ts';
import type { CommandWords, OptionWords } from './tree.ts';

export function fishScript(commands: readonly CommandWords[]): string {
  const paths = commands.slice(1).map(({ path }) => fishQuoted(path));
  return `# Completion of drawbridge for fish. Load it with: drawbridge completion fish | source
function __drawbridge_at
  set -l at drawbridge
  for word in (commandline -opc)[2..]
    switch "$at $word"
      case ${paths.join(' ')}
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
complete -c drawbridge -e
${commands.flatMap(linesOf).join('\n')}
`;
}

function linesOf({ path, subcommands, choices, options }: CommandWords): string[] {
  const here = `complete -c drawbridge -n ${fishQuoted(`__drawbridge_at ${shellWord(path)}`)}`;
  return [
    ...subcommands.map(
      ({ name, description }) => `${here} -f -a ${name} -d ${fishQuoted(description)}`,
    ),
    ...(choices.length > 0 ? [`${here} -f -a ${fishQuoted(choices.join(' '))}`] : []),
    ...options.map((option) => `${here} ${flagsOf(option)}`),
  ];
}

function flagsOf({ names, description, value }: OptionWords): string {
  const flags = names.map((name) =>
    name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
  );
  return [...flags, `-d ${fishQuoted(description)}`, ...valueFlags(value)].join(' ');
}

function valueFlags(value: OptionWords['value']): string[] {
  switch (value.kind) {
    case 'none':
      return [];
    case 'path':
      return ['-r', '-F'];
    case 'text':
      return ['-x'];
    case 'choice':
      return ['-x', `-a ${fishQuoted(value.words.join(' '))}`];
  }
}

/** In fish a backslash escapes a quote within quotes. */
function fishQuoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}

/** Command lines at random: mostly what the rules of the oracle allow, with something hidden in them. */
import type { Random } from '../../../bench/fuzz/random.ts';

export function randomLine(random: Random): string {
  const commands = Array.from({ length: 1 + random.below(3) }, () => randomCommand(random));
  let line = commands.reduce((before, command) => before + random.pick(JOINTS) + command);
  if (random.chance(0.12)) line = random.pick(AROUND).replace('@', () => line);
  for (let changes = random.below(3); changes > 0; changes--) line = mutate(line, random);
  return line;
}

/** A line that may run `git push`, in some way. */
export function randomPush(random: Random): string {
  const push = () => `${random.pick(WRAPPERS)}git push`;
  const line = randomLine(random).replaceAll('touch PWNED', push);
  return random.chance(0.3) ? line.replaceAll('status', 'push') : line;
}

const WRAPPERS = [
  ...['', '', '', 'sudo -n ', 'env A=1 ', 'nohup ', 'nice -n 5 ', 'timeout 5 ', 'time '],
  ...['command ', 'exec ', 'builtin ', 'eval ', '! ', 'bash -c "', 'git -C . status; '],
];

function randomCommand(random: Random): string {
  const parts = [random.pick(COMMANDS)];
  for (let more = random.below(4); more > 0; more--)
    parts.push(
      random.pick(random.chance(0.9) ? BLANKS : ODD_BLANKS) +
        random.pick(random.chance(0.85) ? WORDS : ODD_WORDS),
    );
  if (random.chance(0.05)) parts.unshift(random.pick(PREFIXES));
  return parts.join('');
}

function mutate(line: string, random: Random): string {
  const at = random.below(line.length + 1);
  const rest = line.slice(at + random.below(3));
  return line.slice(0, at) + random.pick(random.chance(0.25) ? PAYLOADS : CHARACTERS) + rest;
}

const COMMANDS = ['git status', 'echo', 'true', 'git status', 'echo a', 'git status --short'];

const JOINTS = [
  ' && ',
  '||',
  ';',
  '\n',
  ' & ',
  '|',
  ' |& ',
  ';\n',
  '\\\n',
  ' \\\n',
  ' ;',
  '\n\n',
  '&',
];

const AROUND = [
  'if @; then echo; fi',
  '{ @; }',
  '! @',
  'until @; do true; done',
  'time @',
  '(@)',
  'coproc @',
  'f() { @; }; f',
  'case a in a) @;; esac',
  'for i in 1; do @; done',
  '@ &>/dev/null',
  'if true; then @\nfi >/dev/null',
];

const BLANKS = [' ', ' ', ' ', '  ', '\t', ' \\\n'];

const ODD_BLANKS = ['\\\n', '', '\v', '\f', '\r', '\u00a0', '\u0085'];

const WORDS = [
  'a',
  '-b',
  '"c d"',
  "'e f'",
  '2>&1',
  '>/dev/null',
  '>&2',
  '2>/dev/null',
  '&>/dev/null',
  '>> /dev/null',
  '$HOME',
  '${x}',
  '"$x y"',
  '"${PATH}"',
  '\\ ',
  '\\;',
  '\\"',
  "\\'",
  '"\\$(touch PWNED)"',
  '"\\`touch PWNED\\`"',
  "'$(touch PWNED)'",
  "$'\\'touch PWNED",
  '*',
  '{a,b}',
  '~',
  'a=b',
  'x#y',
  '$#',
  '$$',
  '$!',
  '$',
  '"$"',
  '"é"',
];

const ODD_WORDS = [
  '$"a"',
  'a[0]=1',
  '#x',
  '{x}>/dev/null',
  '3>&1',
  '10>&1',
  '<<a\ntouch PWNED\na\n',
  '<<<a',
  '<(true)',
  '((1))',
  '[[',
  '表',
  '"表\\"',
  '{',
  '}',
  '!',
  'if',
  'then',
  'do',
];

const PREFIXES = [
  '>/dev/null ',
  '2>&1 ',
  'A=1 ',
  'a[1]=',
  '! ',
  '{ ',
  'time ',
  'then ',
  'builtin ',
  '"',
  "'",
];

const PAYLOADS = [
  'touch PWNED',
  ';touch PWNED;',
  '$(touch PWNED)',
  '`touch PWNED`',
  '>PWNED',
  '>&PWNED',
  '|touch PWNED',
  '&touch PWNED&',
  '\ntouch PWNED\n',
  '"$(touch PWNED)"',
  "'$(touch PWNED)'",
  "\v'$(touch PWNED)'",
  '${x:=$(touch PWNED)}',
  "${x:-'a'}",
  'a[$(touch PWNED)]',
  '$((a[$(touch PWNED)]))',
  '<(touch PWNED)',
  '<<E\n$(touch PWNED)\nE\n',
  '#',
  "$'",
  '$"',
  '&>',
  '>&2',
];

const CHARACTERS = [
  ...' \t\n\v\f\r\'"\\`$(){}[]<>|&;#!*?~=%^+-@:,/0129aA_',
  '\x01',
  '\x08',
  '\x1b',
  '\x7f',
  '\u00a0',
  '\u0085',
  '\u2028',
  '\u3000',
  'é',
  '表',
  '\\\n',
  '$(',
  '${',
  '))',
  ';;',
  '&&',
  '>&',
  '<<',
];

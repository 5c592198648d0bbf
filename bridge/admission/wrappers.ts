/** Wrappers that bound a command and leave it the same. */

/**
 * The command behind `timeout 60`, `nice -n 5` and `nohup`, as it is written. Only what is written in one plain way: any
 * other form stays, and a rule for the command does not hold for it. `env` and `sudo` change what a command does, and
 * `xargs` adds to it.
 */
export function withoutBounds(text: string): string {
  const [bounds = ''] = BOUNDS.exec(text) ?? [];
  const rest = text.slice(bounds.length);
  return /^[\w./][\w./+-]*(?:[ \t]|$)/.test(rest) ? rest : text;
}

const BOUNDS =
  /^(?:(?:timeout (?:(?:--foreground|--preserve-status|-v|-k \d+[smhd]?|-s [A-Z0-9]+) )*\d+(?:\.\d+)?[smhd]?|nice(?: -n \d+)?|nohup) +)+/;

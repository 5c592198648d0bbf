/** Explains in one sentence why bubblewrap did not start, and how to fix it. */

/** `output` is what bubblewrap printed. No hint weakens the whole machine to help one program. */
export function explainStart(output: string): string {
  const complaint = firstLine(output);
  const hint = HINTS.find(({ pattern }) => pattern.test(complaint))?.hint;
  return `bubblewrap does not work here (${complaint})${hint === undefined ? '.' : `: ${hint}`}`;
}

const HINTS: readonly { readonly pattern: RegExp; readonly hint: string }[] = [
  {
    pattern: /Unknown option/,
    hint: 'this version of bubblewrap is too old; install 0.8 or newer.',
  },
  {
    pattern: /RTM_NEWADDR|uid map: Permission denied/,
    hint:
      'on Ubuntu 24.04 and later AppArmor forbids it until a profile allows it; add one for /usr/bin/bwrap ' +
      'with "userns," to /etc/apparmor.d/bwrap and reload AppArmor.',
  },
  {
    pattern: /No permissions to create(?: a)? new namespace|Creating new namespace failed/,
    hint: 'this system or container forbids user namespaces; allow them for this user or container.',
  },
  {
    pattern: /Can't mount proc/,
    hint: 'this container masks parts of /proc; start it with an unmasked /proc.',
  },
];

const MAX_COMPLAINT_CHARS = 200;

function firstLine(output: string): string {
  const lines = output.split('\n').map((line) => line.trim());
  const own = lines.find((line) => line.startsWith('bwrap: '));
  const line = own ?? lines.find((text) => text !== '') ?? 'it printed nothing';
  return line.replace(/^bwrap: /, '').slice(0, MAX_COMPLAINT_CHARS);
}

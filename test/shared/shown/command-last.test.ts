import { expect, it } from 'vitest';
import { withCommandLast } from '../../../shared/shown/command-last.ts';
import { describeProposal } from '../../../shared/shown/proposal.ts';
import type { Proposal } from '../../../shared/wire/approvals.ts';
import { fewOf } from '../../depth.ts';

/** What a command can imitate the lines of its limits with, and what could end a line. */
const PIECES = [
  ...['make', '  folder: .', 'folder: ', '  sandbox: bubblewrap', '  command: true', '    '],
  ...['\n', '\n\n', '\r', '\r\n', '\v', '\f', '\u0085', '\u2028', '\u2029', '\t', '\\n', '\\u{a}'],
  ...[
    '\u001b[2J',
    '\u001b[8m',
    '\u202e',
    '\u2066',
    '\u200b',
    'x'.repeat(20_000),
    ' '.repeat(2_000),
  ],
];

/** Every two of the pieces stand before these: `test:deep` has every three. */
const LAST = PIECES.slice(0, fewOf(PIECES.length, 2));

function proposal(command: string, folder = 'src'): Proposal {
  return {
    kind: 'command',
    tool: 'run_terminal_cmd',
    command,
    folder,
    permissions: ['network'],
    background: true,
    timeLimitMs: 1_000,
    confinement: 'none',
  };
}

it('no text of a command hides or imitates its limits, which come first', () => {
  const limits = describeProposal(proposal('make')).slice(1);
  expect(limits[0]).toBe('  folder: src');
  for (const one of PIECES) {
    for (const two of PIECES) {
      for (const three of LAST) {
        const shown = withCommandLast(proposal(`${one}${two}${three}`));
        const [first = '', ...further] = shown.slice(limits.length);
        const isFine =
          limits.every((line, index) => shown[index] === line) &&
          first.startsWith('  command: ') &&
          further.every((line) => line.startsWith('    '));
        if (!isFine) expect.fail(JSON.stringify([one, two, three]));
      }
    }
  }
});

it('no name of a folder imitates another limit', () => {
  for (const piece of PIECES) {
    const shown = withCommandLast(proposal('make', `a${piece}  sandbox: b`));
    expect(shown.filter((line) => /^ {2}sandbox: /.test(line))).toEqual(['  sandbox: none']);
    expect(shown.at(-1)).toBe('  command: make');
  }
});

it('other proposals keep the order of their lines', () => {
  const call = { kind: 'call', tool: 'x', arguments: { command: 'a', folder: 'b' } } as const;
  expect(withCommandLast(call)).toEqual(['  command: a', '  folder: b']);
});

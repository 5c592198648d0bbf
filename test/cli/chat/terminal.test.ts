import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { openTerminal } from '../../../cli/terminal/terminal.ts';

const ALL = { stdin: true, stdout: true, stderr: true };

describe('openTerminal', () => {
  it.each([
    {
      name: 'a terminal',
      ttys: ALL,
      environment: {},
      seen: { asks: true, pipe: false, colours: true },
    },
    {
      name: 'no colours wanted',
      ttys: ALL,
      environment: { NO_COLOR: '1' },
      seen: { asks: true, pipe: false, colours: false },
    },
    {
      name: 'a dumb terminal',
      ttys: ALL,
      environment: { TERM: 'dumb' },
      seen: { asks: true, pipe: false, colours: false },
    },
    {
      name: 'output to a pipe',
      ttys: { ...ALL, stdout: false },
      environment: {},
      seen: { asks: true, pipe: true, colours: true },
    },
    {
      name: 'input from a pipe',
      ttys: { ...ALL, stdin: false },
      environment: {},
      seen: { asks: false, pipe: false, colours: true },
    },
    {
      name: 'pipes everywhere',
      ttys: {},
      environment: {},
      seen: { asks: false, pipe: true, colours: false },
    },
  ])('sees $name', ({ ttys, environment, seen }) => {
    const { terminal } = open({ ttys, environment });
    const colours = terminal.paint('red', 'x') !== 'x';
    expect({ asks: terminal.isInteractive, pipe: terminal.isPiped, colours }).toEqual(seen);
  });

  it('asks nothing for a machine, and keeps stdout to its format', () => {
    const { terminal, written, errors } = open({ machine: true });
    terminal.write('shown');
    terminal.writeOut('{}');
    expect([terminal.isInteractive, written(), errors()]).toEqual([false, '{}', 'shown']);
  });

  it('writes into a pipe while a question is open', async () => {
    const { terminal, stdin, written, errors } = open({ ttys: { ...ALL, stdout: false } });
    const answer = terminal.ask('Well? ');
    terminal.writeOut('Answer.\n');
    await shown(errors, 'Well? ');
    stdin.write('yes\n');
    expect([await answer, written(), errors()]).toEqual(['yes', 'Answer.\n', 'Well? yes\n']);
  });
});

it('what is written while a question is open comes after its answer', async () => {
  const { terminal, stdin, written } = open({});
  const answer = terminal.ask('Well? ');
  terminal.write('Meanwhile.\n');
  await shown(written, 'Well? ');
  const before = written();
  stdin.write('yes\n');
  expect(await answer).toBe('yes');
  expect([before, written()]).toEqual(['Well? ', 'Well? yes\nMeanwhile.\n']);
});

it('a question is over when it is withdrawn, and its line ends', async () => {
  const { terminal, written } = open({});
  const withdrawn = new AbortController();
  const answer = terminal.ask('Well? ', withdrawn.signal);
  await shown(written, 'Well? ');
  withdrawn.abort();
  expect(await answer).toBeUndefined();
  terminal.write('Next\n');
  expect(written()).toBe('Well? \nNext\n');
});

it('a question is over when the input ends', async () => {
  const { terminal, stdin, written } = open({});
  const answer = terminal.ask('Well? ');
  await shown(written, 'Well? ');
  stdin.end();
  expect(await answer).toBeUndefined();
  terminal.write('Next\n');
  expect(written()).toBe('Well? \nNext\n');
});

it('questions come one after the other', async () => {
  const { terminal, stdin, written } = open({});
  for (const text of ['one', 'two']) {
    const answer = terminal.ask(`${text}? `);
    await shown(written, `${text}? `);
    stdin.write(`${text}\n`);
    expect(await answer).toBe(text);
  }
});

it('lines that are pasted are one answer', async () => {
  const { terminal, stdin, written } = open({});
  const answer = terminal.ask('? ');
  await shown(written, '? ');
  stdin.write('one\ntwo\nthree\n');
  expect(await answer).toBe('one\ntwo\nthree');
});

/** Only what is typed from then on answers. */
async function shown(screen: () => string, text: string): Promise<void> {
  await vi.waitFor(() => expect(screen()).toContain(text));
}

interface Opened {
  readonly ttys?: Partial<typeof ALL>;
  readonly environment?: Record<string, string>;
  readonly machine?: boolean;
}

function open({ ttys = ALL, environment = {}, machine = false }: Opened) {
  const stdin = newStream(ttys.stdin);
  const stdout = newStream(ttys.stdout);
  const stderr = newStream(ttys.stderr);
  const terminal = openTerminal({ stdin, stdout, stderr }, environment, { machine });
  return { terminal, stdin, written: textOf(stdout), errors: textOf(stderr) };
}

function newStream(isTTY = false) {
  return Object.assign(new PassThrough(), { isTTY });
}

/** Without the sequences by which a line editor places its cursor. */
function textOf(stream: PassThrough): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out.
  return () => text.replaceAll(/\u001b\[\d*[A-Z]/g, '').replaceAll('\r', '');
}

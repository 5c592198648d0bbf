import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { openTerminal } from '../../cli/terminal.ts';

it.each([
  { name: 'a terminal', tty: true, environment: {}, colours: true },
  {
    name: 'a terminal that wants no colours',
    tty: true,
    environment: { NO_COLOR: '1' },
    colours: false,
  },
  { name: 'a pipe', tty: false, environment: {}, colours: false },
])('$name has colours: $colours', ({ tty, environment, colours }) => {
  const { terminal } = open({ tty, environment });
  expect(terminal.paint('red', 'x') !== 'x').toBe(colours);
  expect(terminal.isInteractive).toBe(tty);
});

it('what is written while a question is open comes after its answer', async () => {
  const { terminal, input, written } = open({});
  const answer = terminal.ask('Well? ');
  terminal.write('Meanwhile.\n');
  const before = written();
  input.write('yes\n');
  expect(await answer).toBe('yes');
  expect([before, written()]).toEqual(['Well? ', 'Well? yes\nMeanwhile.\n']);
});

it('a question is over when it is withdrawn, and its line ends', async () => {
  const { terminal, written } = open({});
  const withdrawn = new AbortController();
  const answer = terminal.ask('Well? ', withdrawn.signal);
  withdrawn.abort();
  expect(await answer).toBeUndefined();
  terminal.write('Next\n');
  expect(written()).toBe('Well? \nNext\n');
});

it('a question is over when the input ends', async () => {
  const { terminal, input, written } = open({});
  const answer = terminal.ask('Well? ');
  input.end();
  expect(await answer).toBeUndefined();
  terminal.write('Next\n');
  expect(written()).toBe('Well? \nNext\n');
});

it('questions come one after the other', async () => {
  const { terminal, input } = open({});
  for (const text of ['one', 'two']) {
    const answer = terminal.ask('? ');
    input.write(`${text}\n`);
    expect(await answer).toBe(text);
  }
});

it('lines that are pasted are one answer', async () => {
  const { terminal, input } = open({});
  const answer = terminal.ask('? ');
  input.write('one\ntwo\nthree\n');
  expect(await answer).toBe('one\ntwo\nthree');
});

it('all of a pipe is read, whatever its pieces', async () => {
  const { terminal, input } = open({ tty: false });
  const bytes = Buffer.from('Grüße');
  input.write(bytes.subarray(0, 3));
  input.end(bytes.subarray(3));
  expect(await terminal.readAll()).toBe('Grüße');
});

function open({
  tty = true,
  environment = {},
}: {
  tty?: boolean;
  environment?: Record<string, string>;
}) {
  const input = new PassThrough();
  const output = new PassThrough();
  const terminal = openTerminal(
    Object.assign(input, { isTTY: tty }),
    Object.assign(output, { isTTY: tty }),
    environment,
  );
  let text = '';
  output.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  // Without the sequences by which a line editor places its cursor.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out.
  const written = () => text.replaceAll(/\u001b\[\d*[A-Z]/g, '').replaceAll('\r', '');
  return { terminal, input, written };
}

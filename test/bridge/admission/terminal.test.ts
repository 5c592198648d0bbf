import { PassThrough } from 'node:stream';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { TerminalPrompt } from '../../../bridge/admission/askers.ts';
import { createTerminalPrompt, describeQuestion } from '../../../bridge/admission/terminal.ts';
import type { OpenQuestion } from '../../../packages/host/asker.ts';
import type { Proposal } from '../../../shared/wire/approvals.ts';
import { newCommand, newQuestion } from './device.ts';

/** A stream that says it is a terminal. */
function terminalStream(): PassThrough & { isTTY: boolean } {
  return Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true });
}

describe('the terminal', () => {
  const live = new AbortController().signal;
  let input: PassThrough & { isTTY: boolean };
  let shown: string;
  let prompt: TerminalPrompt;

  beforeEach(() => {
    input = terminalStream();
    const output = terminalStream();
    shown = '';
    output.on('data', (text: string) => {
      shown += text;
    });
    const created = createTerminalPrompt(input, output);
    if (created === undefined) throw new Error('no prompt');
    prompt = created;
  });

  /** Types a line once the terminal has asked for it. */
  async function type(line: string, question: string): Promise<void> {
    await vi.waitFor(() => expect(shown).toContain(question));
    shown = '';
    input.write(`${line}\n`);
  }

  test('shows the call and takes yes', async () => {
    const answer = prompt.ask(open('It asks for network.'), live);
    await vi.waitFor(() => expect(shown).toContain('Run it? [y/n]'));
    expect(shown).toContain('run_terminal_cmd');
    expect(shown).toContain('  command: git push\n  permissions: ["network","git_write"]\n');
    await type('y', 'Run it?');
    expect(await answer).toEqual({ decision: 'once' });
  });

  test('takes a yes that lasts, for the pattern that is shown', async () => {
    const offer = { server: 'tickets', tool: 'find', definition: '0'.repeat(64) };
    const proposal = { kind: 'call', tool: 'mcp_tickets_find', arguments: {}, offer } as const;
    const lasting = { pattern: 'tickets/find', always: false };
    const answer = prompt.ask({ ...open('why', proposal), lasting }, live);
    await vi.waitFor(() =>
      expect(shown).toContain(
        'c allows tickets/find in this conversation; a allows it from now on, until its definition changes; n',
      ),
    );
    await type('a', 'Run it? [y/c/a/n]');
    expect(await answer).toEqual({ decision: 'once', scope: 'always', pattern: 'tickets/find' });
    const other = prompt.ask(open('why'), live);
    await type('a', 'Run it? [y/n]');
    await type('y', 'Run it? [y/n]');
    expect(await other).toEqual({ decision: 'once' });
  });

  test('lets the person change each pattern, to one that matches what is shown', async () => {
    const lasting = { pattern: 'cd web\nnpm test', always: true };
    const answer = prompt.ask({ ...open('why', newCommand('cd web && npm test')), lasting }, live);
    await type(
      'c',
      'c allows cd web, npm test in this conversation; a allows it from now on, in the',
    );
    await type('', 'For cd web (Enter)');
    await type('npm*', 'For npm test (Enter)');
    const problem = 'The pattern begins with "npm " before its first wildcard.';
    await vi.waitFor(() => expect(shown).toContain(problem));
    await type('', 'For cd web (Enter)');
    await type('npm *', 'For npm test (Enter)');
    expect(await answer).toEqual({
      decision: 'once',
      scope: 'conversation',
      pattern: 'cd web\nnpm *',
    });
  });

  test('takes no with a reason', async () => {
    const answer = prompt.ask(open('why'), live);
    await type('n', 'Run it?');
    await type('use a branch', 'Why not');
    expect(await answer).toEqual({ decision: 'reject', message: 'use a branch' });
  });

  test('asks again when the answer is neither', async () => {
    const answer = prompt.ask(open('why'), live);
    await type('', 'Run it?');
    await type('perhaps', 'Run it?');
    await type('YES', 'Run it?');
    expect(await answer).toEqual({ decision: 'once' });
  });

  test('takes the values that a server asks for', async () => {
    const bags = { type: 'integer' as const, name: 'bags', required: true, maximum: 3 };
    const proposal = {
      kind: 'elicitation' as const,
      tool: 'mcp_travel_book',
      server: 'travel',
      number: 1,
      message: 'How many bags?',
      fields: [bags],
    };
    const answer = prompt.ask(open('why', proposal), live);
    await vi.waitFor(() => expect(shown).toContain('The server travel asks you'));
    await type('y', 'Answer it?');
    await type('4', 'bags.');
    await type('2', 'greater than 3');
    expect(await answer).toEqual({ decision: 'once', content: '{"bags":2}' });
  });

  test('asks one question after another', async () => {
    const first = prompt.ask(open('the first'), live);
    const second = prompt.ask(open('the second'), live);
    await vi.waitFor(() => expect(shown).toContain('the first'));
    expect(shown).not.toContain('the second');
    await type('y', 'Run it?');
    await type('n', 'the second');
    await type('', 'Why not');
    expect([await first, await second]).toEqual([
      { decision: 'once' },
      { decision: 'reject', message: '' },
    ]);
  });

  test('takes a question back that was answered elsewhere, and goes on', async () => {
    const elsewhere = new AbortController();
    const first = prompt.ask(open('the first'), elsewhere.signal);
    const waiting = prompt.ask(open('the second'), elsewhere.signal);
    const third = prompt.ask(open('the third'), live);
    await vi.waitFor(() => expect(shown).toContain('the first'));
    elsewhere.abort();
    await type('y', 'the third');
    expect([await first, await waiting, await third]).toEqual([
      undefined,
      undefined,
      { decision: 'once' },
    ]);
  });

  test('gives no answer when it is closed', async () => {
    const answer = prompt.ask(open('why'), live);
    await vi.waitFor(() => expect(shown).toContain('Run it?'));
    input.end();
    expect(await answer).toBeUndefined();
  });

  test('a bridge without a terminal has no one to ask there', () => {
    const pipe = new PassThrough();
    expect(createTerminalPrompt(pipe, terminalStream())).toBeUndefined();
    expect(createTerminalPrompt(terminalStream(), pipe)).toBeUndefined();
  });
});

function open(reason: string, proposal?: Proposal): OpenQuestion {
  return { question: { ...newQuestion(), ...(proposal && { proposal }) }, reason };
}

test('a question shows what would move the cursor, hide text or turn it around', () => {
  const args = { command: 'rm -rf ~ #\x1b[2K\r\u202Els\u200B\u2028\nsecond' };
  const question = newQuestion();
  const proposal = { ...question.proposal, arguments: args };
  const text = describeQuestion({ question: { ...question, proposal }, reason: 'why\nnot' });
  expect(text).toContain(
    '  command: rm -rf ~ #\\u{1b}[2K\\u{d}\\u{202e}ls\\u{200b}\\u{2028}\n    second\n  (why not)\n',
  );
});

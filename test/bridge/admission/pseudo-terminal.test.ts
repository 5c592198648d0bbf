import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { HAS_TERMINALS, openPseudoTerminal } from '../../cli/pseudo-terminal.ts';

const PROGRAM = join(import.meta.dirname, 'fixtures', 'asking.ts');
const ONCE = 'answer {"decision":"once"}';

describe.runIf(HAS_TERMINALS)('a question at the bridge’s terminal', () => {
  test('says what y does', async () => {
    const { terminal, ask } = await start();
    ask();
    await terminal.shows('y runs this command, this once; n rejects it.\nRun it? [y/n]');
    terminal.type('y\r');
    await terminal.shows(ONCE);
  });

  test('is not answered by a yes that was typed before', async () => {
    const { terminal, ask } = await start();
    terminal.type('y\n');
    await terminal.shows('y\n');
    ask();
    await terminal.shows('typed before this question is ignored');
    await terminal.shows('Run it?');
    terminal.type('n\r');
    await terminal.shows('Why not');
    terminal.type('\r');
    await terminal.shows('answer ');
    expect(terminal.screen()).toContain('answer {"decision":"reject","message":""}');
  });

  test('is not answered by the end of a line that was begun before', async () => {
    const { terminal, ask } = await start();
    terminal.type('exactl');
    await terminal.shows('exactl');
    ask();
    await terminal.shows('Run it?');
    terminal.type('y\r');
    await terminal.shows('and is ignored, too');
    expect(terminal.screen()).not.toContain('answer {');
    terminal.type('y\r');
    await terminal.shows(ONCE);
  });

  test('is not answered by a late answer to the question before', async () => {
    const { terminal, ask, withdraw } = await start();
    ask();
    await terminal.shows('Run it?');
    withdraw();
    await terminal.shows('withdrawn');
    terminal.type('y\n');
    await terminal.shows('y\n');
    ask();
    await terminal.shows('is ignored');
    terminal.type('y\r');
    await terminal.shows(ONCE);
    expect(terminal.screen().split('\nanswer ')).toHaveLength(3);
  });

  test('takes no paste for a yes', async () => {
    const { terminal, ask } = await start();
    ask();
    await terminal.shows('Run it?');
    terminal.type('\x1b[200~y\rrm -rf\x1b[201~\r');
    await terminal.shows('Run it?', 2);
    terminal.type('y\r');
    await terminal.shows(ONCE);
  });

  test('lets Ctrl-C through to the bridge', async () => {
    const { terminal, ask } = await start();
    ask();
    await terminal.shows('Run it?');
    terminal.type('\x03');
    expect((await terminal.finished).code).toBe(130);
  });
});

async function start() {
  const terminal = openPseudoTerminal([process.execPath, PROGRAM]);
  await terminal.shows('process ');
  await terminal.shows('.\n');
  const pid = Number(/process (\d+)\./.exec(terminal.screen())?.[1]);
  return {
    terminal,
    ask: () => process.kill(pid, 'SIGUSR2'),
    withdraw: () => process.kill(pid, 'SIGUSR1'),
  };
}

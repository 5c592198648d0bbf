import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Journal } from '../../../bridge/tunnel/journal.ts';
import { JOURNAL_LIMITS } from '../../../bridge/tunnel/limits.ts';
import { newCallId } from '../../../shared/ids.ts';
import type { Effect } from '../../../shared/wire/modes.ts';
import type { ToolResult } from '../../../shared/wire/tunnel.ts';
import { keepFoldersInMemory } from '../../in-memory.ts';
import { temporaryFolder } from '../tools/temporary-workspace.ts';

keepFoldersInMemory();

const DONE: ToolResult = { status: 'success', data: 'done', metadata: { exitCode: 0 } };
const newCall = () => newCallId(randomUUID());
const command = (callId: string) =>
  ({ callId, tool: 'run_terminal_cmd', effect: 'execute', idempotent: false }) as const;

let path: string;
let opened: Journal[];
beforeEach(async () => {
  path = join(await temporaryFolder(), 'state', 'journal.jsonl');
  opened = [];
});
afterEach(() => {
  for (const journal of opened) journal[Symbol.dispose]();
});

function open(bootId: string = randomUUID()): Journal {
  const journal = Journal.open(path, bootId);
  opened.push(journal);
  return journal;
}

/** As after a restart of the bridge. */
function reopen(journal: Journal): Journal {
  journal[Symbol.dispose]();
  return open();
}

describe('a call', () => {
  test('is unknown, running, finished and unknown again', () => {
    const journal = open();
    const callId = newCall();
    const states = [journal.lookup(callId)];
    journal.start(command(callId));
    states.push(journal.lookup(callId));
    journal.finish(callId, DONE);
    states.push(journal.lookup(callId));
    journal.forget(callId);
    states.push(journal.lookup(callId));
    expect(states).toEqual([
      { state: 'unknown' },
      { state: 'running' },
      { state: 'finished', result: DONE },
      { state: 'unknown' },
    ]);
  });

  test('that is finished keeps its result over a restart, until it is acked', () => {
    const callId = newCall();
    const first = open();
    first.start(command(callId));
    first.finish(callId, DONE);
    const second = reopen(first);
    expect([second.calls, second.lookup(callId)]).toEqual([
      [callId],
      { state: 'finished', result: DONE },
    ]);
    second.forget(callId);
    const third = reopen(second);
    expect([third.calls, third.lookup(callId)]).toEqual([[], { state: 'unknown' }]);
  });

  test.each<[Effect, boolean, boolean]>([
    ['read', false, true],
    ['write', true, true],
    ['write', false, false],
    ['execute', false, false],
  ])(
    'with effect %s, idempotent %j, is interrupted by a restart, repeatable: %j',
    (effect, idempotent, repeatable) => {
      const callId = newCall();
      const first = open();
      first.start({ callId, tool: 'tool', effect, idempotent });
      expect(reopen(first).lookup(callId)).toEqual({ state: 'interrupted', repeatable });
    },
  );

  test('that is repeatable runs again after a restart', () => {
    const call = {
      callId: newCall(),
      tool: 'read_file',
      effect: 'read',
      idempotent: true,
    } as const;
    const first = open();
    first.start(call);
    const second = reopen(first);
    second.start(call);
    expect(second.lookup(call.callId)).toEqual({ state: 'running' });
  });

  test('is never started a second time otherwise', () => {
    const [running, finished, interrupted] = [newCall(), newCall(), newCall()];
    const first = open();
    first.start(command(interrupted));
    const second = reopen(first);
    second.start(command(running));
    second.start(command(finished));
    second.finish(finished, DONE);
    for (const callId of [running, finished, interrupted]) {
      expect(() => second.start(command(callId))).toThrow('must not be started again');
    }
  });

  test('that changes a file keeps its hashes and its result over a restart, and may start again', () => {
    const change = { beforeHash: null, afterHash: 'a', result: DONE };
    const call = { ...command(newCall()), change };
    const first = open();
    first.start(call);
    const second = reopen(first);
    expect(second.lookup(call.callId)).toEqual({ state: 'interrupted', repeatable: false, change });
    second.ask(call.callId, 'digest', null);
    expect(second.lookup(call.callId)).toEqual({ state: 'unknown' });
    second.start(call);
    expect(second.lookup(call.callId)).toEqual({ state: 'running', change });
  });

  test('keeps the hash of the file that it was asked about or started with', () => {
    const [asked, started, neither] = [newCall(), newCall(), newCall()];
    const first = open();
    first.ask(asked, 'digest', 'hash');
    const change = { beforeHash: 'other', afterHash: null, result: DONE };
    first.start({ ...command(started), change });
    first.ask(neither, 'digest');
    const second = reopen(first);
    expect([asked, started, neither].map((callId) => second.seenHash(callId))).toEqual([
      ...['hash', 'other', undefined],
    ]);
  });

  test('that never started may have a result, and the first one stays', () => {
    const callId = newCall();
    const first = open();
    first.finish(callId, { status: 'error', code: 'DENIED', data: 'no' });
    first.finish(callId, DONE);
    expect(reopen(first).lookup(callId)).toEqual({
      state: 'finished',
      result: { status: 'error', code: 'DENIED', data: 'no' },
    });
  });
});

describe('a bridge that is killed', () => {
  test('leaves finished calls finished and running ones interrupted, and its lock to the next', async () => {
    const [finished, command, read] = [newCall(), newCall(), newCall()];
    await runAndKill([
      { callId: finished, effect: 'execute', isFinished: true },
      { callId: command, effect: 'execute', isFinished: false },
      { callId: read, effect: 'read', isFinished: false },
    ]);
    const journal = open();
    expect([finished, command, read].map((callId) => journal.lookup(callId))).toEqual([
      { state: 'finished', result: { status: 'success', data: 'done before the end' } },
      { state: 'interrupted', repeatable: false },
      { state: 'interrupted', repeatable: true },
    ]);
  });

  test('keeps others out while it lives', async () => {
    await runAndKill([], (pid) => {
      expect(() => open()).toThrow(`Another bridge, process ${pid}, has ${path} open`);
    });
    expect(open().calls).toEqual([]);
  });
});

describe('the file', () => {
  test('is for the user’s eyes only, as is its folder', () => {
    open();
    const modes = [path, `${path}.lock`, join(path, '..')].map(
      (name) => statSync(name).mode & 0o777,
    );
    expect(modes).toEqual([0o600, 0o600, 0o700]);
  });

  test('may be torn at any byte of its last line', () => {
    const [whole, torn] = [newCall(), newCall()];
    const first = open();
    first.finish(whole, DONE);
    const before = readFileSync(path);
    first.finish(torn, { status: 'success', data: 'ü🌉' });
    const after = readFileSync(path);
    first[Symbol.dispose]();
    for (let length = before.length; length < after.length; length++) {
      writeFileSync(path, after.subarray(0, length));
      using journal = Journal.open(path, randomUUID());
      expect([journal.calls, readFileSync(path)]).toEqual([[whole], before]);
    }
  });

  test('may have a hole where a loss of power kept lines from the disk', () => {
    const [kept, lost, torn, later] = [newCall(), newCall(), newCall(), newCall()];
    const first = open();
    const read = (callId: string) => {
      first.start({ callId, tool: 'read_file', effect: 'read', idempotent: true });
      first.finish(callId, DONE);
    };
    read(kept);
    const from = statSync(path).size + 10;
    read(lost);
    read(torn);
    const to = statSync(path).size - 10;
    read(later);
    first[Symbol.dispose]();
    writeFileSync(path, readFileSync(path).fill(0, from, to));
    expect(open().calls).toEqual([kept, later]);
  });

  test('that is damaged elsewhere is not opened, and not locked either', () => {
    const first = open();
    first.finish(newCall(), DONE);
    first[Symbol.dispose]();
    const good = readFileSync(path);
    appendFileSync(path, '{"type":"finished"}\n');
    expect(() => open()).toThrow(`line 2 of ${path}`);
    writeFileSync(path, good);
    expect(open().calls).toHaveLength(1);
  });

  test('shrinks to what is not acked once it has grown', () => {
    const journal = open();
    const kept = newCall();
    journal.finish(kept, DONE);
    const data = 'x'.repeat(JOURNAL_LIMITS.compactJournalBytes / 8);
    let largest = 0;
    for (let count = 0; count < 20; count++) {
      const callId = newCall();
      journal.finish(callId, { status: 'success', data });
      journal.forget(callId);
      largest = Math.max(largest, statSync(path).size);
    }
    expect(largest).toBeLessThan(JOURNAL_LIMITS.compactJournalBytes + 2 * data.length);
    const late = newCall();
    journal.finish(late, DONE);
    expect(reopen(journal).calls).toEqual([kept, late]);
  });

  test('is not rewritten with every ack while much of it is not acked', () => {
    const journal = open();
    const data = 'x'.repeat(JOURNAL_LIMITS.compactJournalBytes);
    for (let count = 0; count < 3; count++) journal.finish(newCall(), { status: 'success', data });
    const [first, second] = [newCall(), newCall()];
    for (const callId of [first, second]) journal.finish(callId, DONE);
    journal.forget(first);
    const { ino } = statSync(path);
    journal.forget(second);
    expect(statSync(path).ino).toBe(ino);
  });
});

describe('the lock', () => {
  test('keeps a second journal of the same process out until the first is closed', () => {
    const first = open();
    expect(() => open()).toThrow(`process ${process.pid}`);
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    expect(open().calls).toEqual([]);
  });

  test('of a dead process whose number another has now is taken over', () => {
    open()[Symbol.dispose]();
    const claim = { id: randomUUID(), pid: process.pid, started: 'in another life' };
    writeFileSync(`${path}.lock`, `${JSON.stringify(claim)}\n`);
    expect(open().calls).toEqual([]);
  });

  test('is taken over after a claim that was torn', () => {
    open()[Symbol.dispose]();
    appendFileSync(`${path}.lock`, '\n{"id":"a","pid":');
    const journal = open();
    expect(() => open()).toThrow('Another bridge');
    expect(journal.calls).toEqual([]);
  });
});

interface Step {
  readonly callId: string;
  readonly effect: Effect;
  readonly isFinished: boolean;
}

/** Runs a bridge up to where all is done that it will do, then kills it. */
async function runAndKill(steps: readonly Step[], meanwhile = (_pid: number) => {}): Promise<void> {
  const script = join(import.meta.dirname, 'interrupted-bridge.ts');
  const child = spawn(process.execPath, [script, path, randomUUID(), JSON.stringify(steps)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let said = '';
    child.stdout.on('data', (text) => {
      said += text;
    });
    await vi.waitFor(() => expect(said).toBe('ready\n'));
    meanwhile(child.pid ?? 0);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}

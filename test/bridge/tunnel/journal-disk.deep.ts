/** What the disk under a journal can do to it: be full, be read-only, lose it. */

import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { JournalUnwritable } from '../../../bridge/admission/book.ts';
import { Journal } from '../../../bridge/tunnel/journal.ts';
import { JOURNAL_LIMITS } from '../../../bridge/tunnel/limits.ts';
import { aboutCall, logTo } from '../../../machine/log.ts';
import type { LogEntry } from '../../../machine/log-line.ts';
import { newCallId } from '../../../shared/ids.ts';
import type { ToolResult } from '../../../shared/wire/tunnel.ts';
import { temporaryFolder } from '../tools/temporary-workspace.ts';

const DONE: ToolResult = { status: 'success', data: 'done' };
const newCall = () => newCallId(randomUUID());
const command = (callId: string) =>
  ({ callId, tool: 'command', effect: 'execute', idempotent: false }) as const;

let path: string;
beforeEach(async () => {
  path = join(await temporaryFolder(), 'state', 'journal.jsonl');
});

function open(): Journal {
  const journal = Journal.open(path, randomUUID());
  onTestFinished(() => journal[Symbol.dispose]());
  return journal;
}

function watchLog(): () => string[] {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  return () => log.mock.calls.map((said) => said.join(' '));
}

describe('a disk that is full', () => {
  test.runIf(process.platform === 'linux')(
    'leaves the journal whole at every size at which it fills up, and reads go on',
    () => {
      // Not in the order of their lines' lengths, so that the limit falls at other places of a line.
      for (const blocks of [4, 5, 6, 7, 9, 12]) {
        rmSync(dirname(path), { recursive: true, force: true });
        const callIds = Array.from({ length: 20 }, newCall);
        const { outcomes, said } = runOnFullDisk(blocks, callIds);
        const refused = outcomes.indexOf('refused');
        expect(refused).toBeGreaterThan(0);
        expect(outcomes).toEqual(
          callIds.map((_, index) => (index % 2 === 1 && index >= refused ? 'refused' : 'ran')),
        );
        expect(said).toMatch(/^.*journal\.jsonl cannot be written \(EFBIG: .*\)\. Until .*\.\n$/);
        using journal = Journal.open(path, randomUUID());
        for (const [index, callId] of callIds.entries()) {
          const { state } = journal.lookup(callId);
          // What is not in the file was a read, or was refused.
          if (index % 2 === 1 && outcomes[index] === 'ran') expect(state).not.toBe('unknown');
        }
      }
    },
  );

  test('is logged with the ids of the calls that met it and its end', () => {
    const journal = open();
    const entries: LogEntry[] = [];
    const start = (call: string) =>
      aboutCall({ call }, () =>
        logTo(
          (entry) => entries.push(entry),
          () => journal.start(command(call)),
        ),
      );
    const [first, second] = [newCall(), newCall()];
    const makeRoom = blockFolder();
    expect(() => start(first)).toThrow(JournalUnwritable);
    makeRoom();
    start(second);
    const logged = (event: LogEntry['event'], call: string) =>
      expect.objectContaining({ event, call, message: expect.stringContaining(path) });
    expect(entries).toContainEqual(logged('journal_unwritable', first));
    expect(entries.at(-1)).toEqual(logged('journal_writable', second));
  });

  test('is logged when it takes lines again, and what was refused can run', () => {
    const said = watchLog();
    const journal = open();
    const callId = newCall();
    const makeRoom = blockFolder();
    expect(() => journal.start(command(callId))).toThrow(JournalUnwritable);
    expect(journal.lookup(callId)).toEqual({ state: 'unknown' });
    makeRoom();
    journal.start(command(callId));
    expect(journal.lookup(callId)).toEqual({ state: 'running' });
    expect(said()).toEqual([
      expect.stringContaining('cannot be written'),
      expect.stringContaining('written again from memory'),
      expect.stringContaining('can be written again.'),
    ]);
  });
});

test('a journal that was removed comes back before anything depends on it', () => {
  const said = watchLog();
  const journal = open();
  const [finished, running] = [newCall(), newCall()];
  journal.finish(finished, DONE);
  rmSync(path);
  journal.start(command(running));
  journal[Symbol.dispose]();
  const next = open();
  expect([next.lookup(finished), next.lookup(running)]).toEqual([
    { state: 'finished', result: DONE },
    { state: 'interrupted', repeatable: false },
  ]);
  expect(said()).toEqual([expect.stringContaining('written again from memory')]);
});

test('a state folder that was deleted does not come back: its keys are gone', () => {
  watchLog();
  const journal = open();
  rmSync(dirname(path), { recursive: true });
  expect(() => journal.start(command(newCall()))).toThrow(JournalUnwritable);
  expect(existsSync(dirname(path))).toBe(false);
});

test('a place where nothing can be written is an error in one sentence', () => {
  mkdirSync(path, { recursive: true });
  expect(() => open()).toThrow(
    /^The bridge cannot keep its journal .*: see that its disk has room/,
  );
});

test('a pipe in the place of the journal is an error in one sentence, without waiting', () => {
  mkdirSync(dirname(path), { recursive: true });
  execFileSync('mkfifo', [path]);
  expect(() => open()).toThrow(/^The bridge cannot keep its journal .*not a regular file/);
});

describe('a journal with 100,000 calls', () => {
  const COUNT = 100_000;
  let calls: string[];
  beforeEach(() => {
    calls = Array.from({ length: COUNT }, newCall);
    mkdirSync(dirname(path), { recursive: true });
    const lines = calls.map((callId) => JSON.stringify({ type: 'finished', callId, result: DONE }));
    writeFileSync(path, `${lines.join('\n')}\n`);
  });

  test('is read, is not written anew over each ack, and forgets them all', () => {
    const journal = open();
    expect(journal.calls).toEqual(calls);
    const { ino } = fileOf();
    for (const callId of calls.slice(0, COUNT / 2)) journal.forget(callId);
    expect(fileOf().ino).toBe(ino);
    const late = newCall();
    journal.start(command(late));
    for (const callId of calls.slice(COUNT / 2)) journal.forget(callId);
    expect(fileOf().size).toBeLessThan(JOURNAL_LIMITS.compactJournalBytes * 2);
    journal[Symbol.dispose]();
    expect(open().calls).toEqual([late]);
  });
});

test('a journal that has grown beyond its limit takes nothing more that counts, until it is started again', () => {
  watchLog();
  vi.spyOn(JOURNAL_LIMITS, 'maxJournalBytes', 'get' as never).mockReturnValue(2_000 as never);
  const journal = open();
  const calls = Array.from({ length: 20 }, newCall);
  for (const callId of calls) journal.finish(callId, DONE);
  expect(() => journal.start(command(newCall()))).toThrow('end the bridge and start it again');
  for (const callId of calls) journal.forget(callId);
  journal[Symbol.dispose]();
  expect(readFileSync(path, 'utf8').split('\n').length).toBeGreaterThan(20);
});

function fileOf(): { size: number; ino: number } {
  const file = openSync(path, 'r');
  try {
    return fstatSync(file);
  } finally {
    closeSync(file);
  }
}

/** The state folder is gone, and cannot be made again until the returned function is called. */
function blockFolder(): () => void {
  const folder = dirname(path);
  rmSync(folder, { recursive: true });
  writeFileSync(folder, 'a file in the place of the folder');
  return () => {
    rmSync(folder);
    mkdirSync(folder);
  };
}

function runOnFullDisk(blocks: number, callIds: readonly string[]) {
  const script = join(import.meta.dirname, 'full-disk-bridge.ts');
  const line = `ulimit -f ${blocks}; exec "$0" "$@"`;
  const args = ['-c', line, process.execPath, script, path, randomUUID(), ...callIds];
  const { stdout, stderr } = spawnSync('sh', args, { encoding: 'utf8' });
  return { outcomes: JSON.parse(stdout) as string[], said: stderr };
}

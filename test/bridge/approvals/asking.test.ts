import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Asking, type TerminalAnswer } from '../../../bridge/approvals/asking.ts';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import { type Device, newDevice, newSubject } from './device.ts';

/** Someone at the terminal who answers when the test says so. */
class ScriptedTerminal {
  readonly asked: string[] = [];
  readonly withdrawn: string[] = [];
  answer: (answer: TerminalAnswer | undefined) => void = () => {};

  ask({ callId }: { callId: string }, _: string, signal: AbortSignal) {
    this.asked.push(callId);
    signal.addEventListener('abort', () => {
      this.withdrawn.push(callId);
      this.answer(undefined);
    });
    return new Promise<TerminalAnswer | undefined>((resolve) => {
      this.answer = resolve;
    });
  }
}

describe('a question', () => {
  let device: Device;
  let terminal: ScriptedTerminal;
  let events: unknown[];
  let asking: Asking;
  const live = new AbortController().signal;

  beforeEach(async () => {
    device = await newDevice();
    terminal = new ScriptedTerminal();
    events = [];
    asking = new Asking({
      terminal,
      devices: async () => [device.key],
      onRequested: (callId, reason) => events.push({ callId, reason }),
      onResolved: (callId, resolution) => events.push({ callId, ...resolution }),
    });
  });
  afterEach(() => vi.useRealTimers());

  test('answered at the terminal is over on the devices', async () => {
    const subject = newSubject();
    const { callId } = subject;
    const resolution = asking.ask(subject, 'why', live);
    expect(asking.pending).toEqual([{ callId, reason: 'why' }]);
    terminal.answer({ decision: 'reject', message: 'not now' });
    expect(await resolution).toEqual({ decision: 'reject', by: 'terminal', message: 'not now' });
    expect(await asking.answer(await device.approve(subject))).toBe('not_pending');
    expect(asking.pending).toEqual([]);
    expect(events).toEqual([
      { callId, reason: 'why' },
      { callId, decision: 'reject', by: 'terminal', message: 'not now' },
    ]);
  });

  test('answered on a device is taken back at the terminal', async () => {
    const subject = newSubject();
    const resolution = asking.ask(subject, 'why', live);
    expect(await asking.answer(await device.approve(subject))).toBe('counted');
    expect(await resolution).toEqual({ decision: 'once', by: 'device' });
    expect(terminal.withdrawn).toEqual([subject.callId]);
  });

  test('stays open after an approval that is not signed', async () => {
    const subject = newSubject();
    const { callId } = subject;
    const resolution = asking.ask(subject, 'why', live);
    expect(await asking.answer({ callId, decision: 'once' })).toBe('not_signed');
    expect(asking.pending).toEqual([{ callId, reason: 'why' }]);
    terminal.answer({ decision: 'once' });
    expect(await resolution).toEqual({ decision: 'once', by: 'terminal' });
  });

  test('stays open when the device keys cannot be read', async () => {
    const closed = new Asking({
      terminal: undefined,
      devices: () => Promise.reject(new Error('damaged')),
      onRequested: () => {},
      onResolved: () => {},
    });
    const subject = newSubject();
    void closed.ask(subject, 'why', live);
    expect(await closed.answer(await device.approve(subject))).toBe('not_signed');
    expect(closed.pending).toHaveLength(1);
    await closed.answer({ callId: subject.callId, decision: 'reject' });
  });

  test('is rejected by any device, with its reason', async () => {
    const subject = newSubject();
    const { callId } = subject;
    const resolution = asking.ask(subject, 'why', live);
    expect(await asking.answer({ callId, decision: 'reject', message: 'no' })).toBe('counted');
    expect(await resolution).toEqual({ decision: 'reject', by: 'device', message: 'no' });
  });

  test('takes an answer that came before it was asked', async () => {
    const subject = newSubject();
    expect(await asking.answer(await device.approve(subject))).toBe('not_pending');
    expect(await asking.ask(subject, 'why', live)).toEqual({ decision: 'once', by: 'device' });
    expect(terminal.asked).toEqual([]);
  });

  test('does not take an answer that came before and is not signed', async () => {
    const subject = newSubject();
    await asking.answer({ callId: subject.callId, decision: 'once' });
    void asking.ask(subject, 'why', live);
    await vi.waitFor(() => expect(terminal.asked).toEqual([subject.callId]));
    terminal.answer({ decision: 'reject' });
  });

  test('answered by two devices at once is resolved once', async () => {
    const subject = newSubject();
    const { callId } = subject;
    void asking.ask(subject, 'why', live);
    const outcomes = await Promise.all([
      asking.answer(await device.approve(subject)),
      asking.answer({ callId, decision: 'reject' }),
    ]);
    expect(outcomes.sort()).toEqual(['counted', 'not_pending']);
    expect(events).toHaveLength(2);
  });

  test('expires when nobody answers', async () => {
    vi.useFakeTimers();
    const resolution = asking.ask(newSubject(), 'why', live);
    vi.advanceTimersByTime(RUN_LIMITS.approvalMs);
    expect(await resolution).toEqual({
      decision: 'expired',
      by: 'drawbridge',
      message: 'Nobody answered in time.',
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  test('ends with its call', async () => {
    const cancel = new AbortController();
    const resolution = asking.ask(newSubject(), 'why', cancel.signal);
    cancel.abort();
    expect(await resolution).toMatchObject({ decision: 'expired', by: 'drawbridge' });
    expect(terminal.withdrawn).toHaveLength(1);
  });

  test('of a call that is cancelled already is not put to anyone at the terminal', async () => {
    const resolution = await asking.ask(newSubject(), 'why', AbortSignal.abort());
    expect([resolution.decision, terminal.asked]).toEqual(['expired', []]);
  });

  test('is left to the devices when the terminal closes', async () => {
    const subject = newSubject();
    const resolution = asking.ask(subject, 'why', live);
    terminal.answer(undefined);
    await asking.answer(await device.approve(subject));
    expect(await resolution).toEqual({ decision: 'once', by: 'device' });
  });
});

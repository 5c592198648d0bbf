import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  DeviceAsker,
  type TerminalAnswer,
  terminalAsker,
} from '../../../bridge/admission/askers.ts';
import { Asking } from '../../../bridge/admission/asking.ts';
import type { QuestionBook } from '../../../bridge/admission/book.ts';
import { type ApprovalSubject, digestOf } from '../../../bridge/admission/proposal.ts';
import type { OpenQuestion, Resolution } from '../../../packages/host/asker.ts';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import { ALLOW_ONCE, approvalText, type Grant } from '../../../shared/wire/approval-text.ts';
import type { Proposal } from '../../../shared/wire/approvals.ts';
import { newPasskey } from '../../far-ends/passkey.ts';
import { BRIDGE_ID, type Device, newCommand, newDevice, newSubject } from './device.ts';

const NONCE = 'the-only-one';
const asked = (subject: ApprovalSubject) => ({ ...subject, bridgeId: BRIDGE_ID, nonce: NONCE });

/** Keeps what was answered, in order. */
function newBook(): QuestionBook & { answers: Resolution[] } {
  const answers: Resolution[] = [];
  return {
    answers,
    ask: () => ({ nonce: NONCE }),
    answer: (_, nonce, answer) => {
      expect(nonce).toBe(NONCE);
      answers.push(answer);
    },
  };
}

/** Someone at the terminal who answers when the test says so. */
class ScriptedTerminal {
  readonly asked: string[] = [];
  readonly withdrawn: string[] = [];
  answer: (answer: TerminalAnswer | undefined) => void = () => {};

  ask({ question: { callId } }: OpenQuestion, signal: AbortSignal) {
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

const ELICITATION: Proposal = {
  kind: 'elicitation',
  tool: 'mcp_travel_book',
  server: 'travel',
  message: 'Bags?',
  fields: [{ type: 'integer', name: 'bags', required: true, maximum: 3 }],
  number: 1,
};

describe('a question', () => {
  let device: Device;
  let terminal: ScriptedTerminal;
  let events: unknown[];
  let counted: unknown[];
  let asking: Asking;
  let devices: DeviceAsker;
  let book: ReturnType<typeof newBook>;
  const live = new AbortController().signal;

  const ask = (subject: ApprovalSubject, signal = live) =>
    asking.ask({ subject, reason: 'why', signal });

  beforeEach(async () => {
    device = await newDevice();
    terminal = new ScriptedTerminal();
    events = [];
    counted = [];
    book = newBook();
    devices = new DeviceAsker({
      keys: async () => [device.key],
      onRefused: ({ callId }, why) => void events.push({ callId, why }),
    });
    asking = new Asking({
      bridgeId: BRIDGE_ID,
      book,
      askers: [devices, terminalAsker(terminal)],
      onAnswered: (_, answer) => void counted.push(answer),
      onRequested: ({ question: { callId }, reason }) => void events.push({ callId, reason }),
      onResolved: ({ callId }, resolution) => void events.push({ callId, ...resolution }),
    });
  });
  afterEach(() => vi.useRealTimers());

  test('of a server counts with values that fit its form, which are not kept', async () => {
    const subject = { ...newSubject(), proposal: ELICITATION };
    const answered = ask(subject);
    const say = async (content: string) =>
      await devices.answer(await device.approve(asked(subject), { ...ALLOW_ONCE, content }));
    expect(await say('{"bags":9}')).toBe('refused');
    expect(await say('{}')).toBe('refused');
    expect(await say('{"bags":2}')).toBe('counted');
    expect(await answered).toEqual({ decision: 'once', by: 'device', content: '{"bags":2}' });
    expect(book.answers).toEqual([{ decision: 'once', by: 'device' }]);
    expect(events[1]).toMatchObject({ why: expect.stringContaining('9 is greater than 3') });
  });

  test('answered at the terminal is over on the devices', async () => {
    const subject = newSubject();
    const { callId } = subject;
    const resolution = ask(subject);
    expect(asking.pending).toMatchObject([{ question: asked(subject), reason: 'why' }]);
    terminal.answer({ decision: 'reject', message: 'not now' });
    expect(await resolution).toEqual({ decision: 'reject', by: 'terminal', message: 'not now' });
    expect(await devices.answer(await device.approve(asked(subject)))).toBe('not_pending');
    expect(asking.pending).toEqual([]);
    expect(events).toEqual([
      { callId, reason: 'why' },
      { callId, decision: 'reject', by: 'terminal', message: 'not now' },
    ]);
  });

  test('answered on a device is taken back at the terminal', async () => {
    const subject = newSubject();
    const resolution = ask(subject);
    expect(await devices.answer(await device.approve(asked(subject)))).toBe('counted');
    expect(await resolution).toEqual({ decision: 'once', by: 'device' });
    expect(terminal.withdrawn).toEqual([subject.callId]);
  });

  test('stays open after an approval that is not signed', async () => {
    const subject = newSubject();
    const { callId } = subject;
    const resolution = ask(subject);
    expect(await devices.answer({ callId, nonce: NONCE, decision: 'once' })).toBe('refused');
    expect(asking.pending).toMatchObject([{ question: asked(subject), reason: 'why' }]);
    terminal.answer({ decision: 'once' });
    expect(await resolution).toEqual({ decision: 'once', by: 'terminal' });
  });

  test('stays open when the device keys cannot be read', async () => {
    const damaged = new DeviceAsker({
      keys: () => Promise.reject(new Error('damaged')),
      onRefused: () => {},
    });
    const closed = new Asking({
      bridgeId: BRIDGE_ID,
      book,
      askers: [damaged],
      onRequested: () => {},
      onResolved: () => {},
    });
    const subject = newSubject();
    void closed.ask({ subject, reason: 'why', signal: live });
    expect(await damaged.answer(await device.approve(asked(subject)))).toBe('refused');
    expect(closed.pending).toHaveLength(1);
    await damaged.answer({ callId: subject.callId, nonce: NONCE, decision: 'reject' });
  });

  test('is rejected by any device, with its reason', async () => {
    const subject = newSubject();
    const { callId } = subject;
    const resolution = ask(subject);
    expect(await devices.answer({ callId, nonce: NONCE, decision: 'reject', message: 'no' })).toBe(
      'counted',
    );
    expect(await resolution).toEqual({ decision: 'reject', by: 'device', message: 'no' });
  });

  test('is on record with the digest of what was shown and the signature, and without both where it is private', async () => {
    const [signed, typed, secret] = [newSubject(), newSubject(), newSubject()];
    const answered = ask(signed);
    const forged = { callId: signed.callId, nonce: NONCE, decision: 'once' as const };
    expect(await devices.answer(forged)).toBe('refused');
    const approval = await device.approve(asked(signed));
    await devices.answer(approval);
    await answered;
    const atTerminal = ask(typed);
    terminal.answer({ decision: 'reject' });
    await atTerminal;
    const hidden = asking.ask({ subject: secret, reason: 'why', isPrivate: true, signal: live });
    await devices.answer(await device.approve(asked(secret)));
    await hidden;
    expect(counted).toEqual([
      {
        decision: 'once',
        by: 'device',
        scope: undefined,
        proposal: digestOf(signed),
        signature: approval.signature,
      },
      { decision: 'reject', by: 'terminal', scope: undefined, proposal: digestOf(typed) },
      { decision: 'once', by: 'device', scope: undefined },
    ]);
    expect(JSON.stringify([events, book.answers])).not.toContain('"signature"');
  });

  test('takes an answer that came before it was asked', async () => {
    const subject = newSubject();
    expect(await devices.answer(await device.approve(asked(subject)))).toBe('not_pending');
    expect(await ask(subject)).toEqual({ decision: 'once', by: 'device' });
    expect(terminal.asked).toEqual([]);
  });

  test('does not take an answer that came before and is not signed', async () => {
    const subject = newSubject();
    await devices.answer({ callId: subject.callId, nonce: NONCE, decision: 'once' });
    void ask(subject);
    await vi.waitFor(() => expect(terminal.asked).toEqual([subject.callId]));
    terminal.answer({ decision: 'reject' });
  });

  test('is on disk before it is asked, and its answer before anything follows from it', async () => {
    const subject = newSubject();
    const seen: unknown[] = [];
    book.ask = () => {
      seen.push('asked', ...events);
      return { nonce: NONCE };
    };
    book.answer = () => seen.push('answered', ...events.slice(1));
    const resolution = ask(subject);
    await devices.answer(await device.approve(asked(subject)));
    await resolution;
    expect([seen, events.length]).toEqual([['asked', 'answered'], 2]);
  });

  test('is not put to anybody where it cannot be kept', async () => {
    book.ask = () => {
      throw new Error('the disk is full');
    };
    await expect(ask(newSubject())).rejects.toThrow('the disk is full');
    expect([terminal.asked, asking.pending, events]).toEqual([[], [], []]);
  });

  test('does not let its call run where the answer cannot be kept, and is over everywhere', async () => {
    book.answer = () => {
      throw new Error('the disk is full');
    };
    const subject = newSubject();
    const { callId } = subject;
    const resolution = ask(subject);
    const outcome = devices.answer(await device.approve(asked(subject)));
    await expect(resolution).rejects.toThrow('the disk is full');
    expect([await outcome, terminal.withdrawn]).toEqual(['counted', [callId]]);
    expect(events.at(-1)).toMatchObject({ callId, decision: 'expired', by: 'drawbridge' });
  });

  test('a question that was answered to an earlier process reaches no one', async () => {
    const answer = { decision: 'once', by: 'terminal' } as const;
    book.ask = () => ({ nonce: NONCE, answer });
    const subject = newSubject();
    expect(await ask(subject)).toEqual(answer);
    expect([terminal.asked, events]).toEqual([[], [{ callId: subject.callId, ...answer }]]);
  });

  test('allowed where it does not hold any more is void, and its answer is not kept', async () => {
    const subject = newSubject();
    const { callId } = subject;
    const stillHolds = vi.fn(async () => false);
    const resolution = asking.ask({ subject, reason: 'why', signal: live, stillHolds });
    expect(await devices.answer(await device.approve(asked(subject)))).toBe('counted');
    const superseded = { decision: 'superseded', by: 'drawbridge' };
    expect(await resolution).toEqual(superseded);
    expect([book.answers, terminal.withdrawn, asking.pending]).toEqual([[], [callId], []]);
    expect(events.at(-1)).toEqual({ callId, ...superseded });
  });

  test('that is rejected is not looked at again', async () => {
    const subject = newSubject();
    const stillHolds = vi.fn(async () => false);
    const resolution = asking.ask({ subject, reason: 'why', signal: live, stillHolds });
    terminal.answer({ decision: 'reject' });
    expect(await resolution).toEqual({ decision: 'reject', by: 'terminal' });
    expect(stillHolds).not.toHaveBeenCalled();
  });

  test('a question without an answer is not kept as answered', async () => {
    const cancel = new AbortController();
    const resolution = ask(newSubject(), cancel.signal);
    cancel.abort();
    await resolution;
    expect(book.answers).toEqual([]);
  });

  test('answered by two devices at once is resolved once', async () => {
    const subject = newSubject();
    const { callId } = subject;
    void ask(subject);
    const outcomes = await Promise.all([
      devices.answer(await device.approve(asked(subject))),
      devices.answer({ callId, nonce: NONCE, decision: 'reject' }),
    ]);
    expect(outcomes.sort()).toEqual(['counted', 'not_pending']);
    expect(events).toHaveLength(2);
  });

  test('a question expires without an answer', async () => {
    vi.useFakeTimers();
    const resolution = ask(newSubject());
    vi.advanceTimersByTime(RUN_LIMITS.approvalMs);
    expect(await resolution).toEqual({
      decision: 'expired',
      by: 'drawbridge',
      message: 'No one answered in time.',
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  test('ends with its call', async () => {
    const cancel = new AbortController();
    const resolution = ask(newSubject(), cancel.signal);
    cancel.abort();
    expect(await resolution).toMatchObject({ decision: 'expired', by: 'drawbridge' });
    expect(terminal.withdrawn).toHaveLength(1);
  });

  test('of a call that is cancelled already is not put to anyone at the terminal', async () => {
    const resolution = await ask(newSubject(), AbortSignal.abort());
    expect([resolution.decision, terminal.asked]).toEqual(['expired', []]);
  });

  describe('whose answer can last', () => {
    const ENROLLED = '2026-11-24T00:00:00Z';
    const lasting = (scope: string, pattern: string) => ({ ...ALLOW_ONCE, scope, pattern });
    const start = ({
      key = device.key,
      enrolledAt = ENROLLED as string | null,
      mayAlways = false,
      needsPasskey = false,
    } = {}) => {
      const made: unknown[] = [];
      const known = enrolledAt === null ? key : { ...key, enrolledAt };
      devices = new DeviceAsker({
        keys: async () => [known],
        needsPasskey,
        onRefused: (_, why) => void events.push(why),
      });
      asking = new Asking({
        bridgeId: BRIDGE_ID,
        book,
        askers: [devices, terminalAsker(terminal)],
        devicesMayAllowAlways: mayAlways,
        onRequested: ({ lasting: offered }) => void events.push(offered),
        onResolved: (_, resolution) => void events.push(resolution),
        onLasting: async (_, answer) => void made.push(answer),
      });
      const subject = { ...newSubject(), proposal: newCommand('npm run a') };
      const resolution = asking.ask({ subject, reason: 'why', pattern: 'npm run a', signal: live });
      const say = async (grant: Grant, signed = grant) => {
        const { signature } = await device.approve(asked(subject), signed);
        return await devices.answer({
          ...(await device.approve(asked(subject), grant)),
          signature,
        });
      };
      return { made, subject, resolution, say };
    };

    test('takes no more than a yes for the call from a passkey', async () => {
      const { key, assert } = await newPasskey();
      const { made, subject, resolution } = start({ key, mayAlways: true });
      const sayByPasskey = async (grant: Grant) => {
        const { value, ...passkey } = await assert(approvalText(asked(subject), grant));
        const signature = { deviceId: key.deviceId, value, passkey };
        return await devices.answer({
          ...(await device.approve(asked(subject), grant)),
          signature,
        });
      };
      for (const scope of ['conversation', 'always']) {
        expect(await sayByPasskey(lasting(scope, 'npm run a'))).toBe('refused');
      }
      expect(events.at(-1)).toContain('A passkey allows one call at a time');
      expect(await sayByPasskey(ALLOW_ONCE)).toBe('counted');
      expect(await resolution).toMatchObject({ decision: 'once' });
      expect(made).toEqual([]);
    });

    test.each([
      ['another machine', ENROLLED, 'refused'],
      ['the bridge’s own machine', null, 'counted'],
    ] as const)(
      'takes a yes without a passkey, where the owner wants one, by the machine alone: %s',
      async (_, enrolledAt, outcome) => {
        const { say, resolution } = start({ enrolledAt, needsPasskey: true });
        expect(await say(ALLOW_ONCE)).toBe(outcome);
        if (outcome === 'counted') return void (await resolution);
        expect(events.at(-1)).toContain('only by passkeys');
      },
    );

    test('takes a yes by a passkey where the owner wants one', async () => {
      const { key, assert } = await newPasskey();
      const { subject, resolution } = start({ key, needsPasskey: true });
      const { value, ...passkey } = await assert(approvalText(asked(subject)));
      const signature = { deviceId: key.deviceId, value, passkey };
      const answer = { ...(await device.approve(asked(subject))), signature };
      expect(await devices.answer(answer)).toBe('counted');
      expect(await resolution).toMatchObject({ decision: 'once' });
    });

    test('takes one for the conversation from any device, with the pattern that is signed', async () => {
      const { made, resolution, say } = start();
      const grant = lasting('conversation', 'npm run *');
      expect(await say(grant, ALLOW_ONCE)).toBe('refused');
      expect(await say(ALLOW_ONCE, grant)).toBe('refused');
      expect(await say(lasting('conversation', 'npm *'), grant)).toBe('refused');
      expect(await say(lasting('always', 'npm run *'), grant)).toBe('refused');
      expect(await say(lasting('conversation', 'npm*'))).toBe('refused');
      expect(made).toEqual([]);
      expect(await say(grant)).toBe('counted');
      const answer = { scope: 'conversation', pattern: 'npm run *' };
      expect(await resolution).toEqual({ decision: 'once', by: 'device', ...answer });
      expect([made, book.answers]).toEqual([
        [answer],
        [{ decision: 'once', by: 'device', ...answer }],
      ]);
      expect(events[0]).toEqual({ pattern: 'npm run a', always: false });
    });

    test.each([
      ['another machine', ENROLLED, false, 'refused'],
      ['another machine, where the owner lets it', ENROLLED, true, 'counted'],
      ['the machine of the bridge', null, false, 'counted'],
    ] as const)('takes "always" from a device of %s', async (_, enrolledAt, mayAlways, outcome) => {
      const { made, resolution, say } = start({ enrolledAt, mayAlways });
      expect(await say(lasting('always', 'npm run a'))).toBe(outcome);
      if (outcome === 'counted') await resolution;
      expect(made).toHaveLength(outcome === 'counted' ? 1 : 0);
      if (outcome === 'refused') expect(events.at(-1)).toContain('devicesMayAllowAlways');
    });

    test('takes none where the question offers none', async () => {
      start();
      const subject = { ...newSubject(), proposal: newCommand('npm run a') };
      void asking.ask({ subject, reason: 'why', signal: live });
      const grant = lasting('conversation', 'npm run a');
      expect(await devices.answer(await device.approve(asked(subject), grant))).toBe('refused');
      expect(events.at(-1)).toBe('A yes to this question counts for its call alone.');
    });

    test('makes its rules again after a restart, and without them counts once', async () => {
      const answer = { decision: 'once', by: 'terminal', scope: 'always', pattern: 'x' } as const;
      book.ask = () => ({ nonce: NONCE, answer });
      const { made, resolution } = start();
      expect(await resolution).toEqual(answer);
      expect(made).toEqual([{ scope: 'always', pattern: 'x' }]);
      asking = new Asking({
        bridgeId: BRIDGE_ID,
        book,
        askers: [],
        onRequested: () => {},
        onResolved: () => {},
        onLasting: () => Promise.reject(new Error('the disk is full')),
      });
      expect(await ask(newSubject())).toEqual({ decision: 'once', by: 'terminal' });
    });
  });

  test('is left to the devices when the terminal closes', async () => {
    const subject = newSubject();
    const resolution = ask(subject);
    terminal.answer(undefined);
    await devices.answer(await device.approve(asked(subject)));
    expect(await resolution).toEqual({ decision: 'once', by: 'device' });
  });
});

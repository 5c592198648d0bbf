import { expect, it } from 'vitest';
import { Attention } from '../../../../cli/tui/dialogs/attention.ts';
import type { ChatResponse, ConversationView } from '../../../../client/index.ts';
import { openVirtualTerminal } from '../virtual-terminal.ts';

type Session = Parameters<Attention['update']>[0];

function open(env: Readonly<Record<string, string>> = { TERM: 'xterm-kitty' }) {
  const titles: string[] = [];
  const states: string[] = [];
  let [nowMs, seen] = [0, 0];
  const terminal = {
    ...openVirtualTerminal(),
    setTitle: (title: string) => void titles.push(title),
    setProgramStatus: ({ state }: { readonly state: string }) => void states.push(state),
  };
  const attention = new Attention({ terminal, env, nowMs: () => nowMs });
  const news = () => {
    const written = terminal.written();
    const fresh = written.slice(seen);
    seen = written.length;
    return fresh;
  };
  const sessionWith = (status: ChatResponse['status'], title = 'Shop'): Session => ({
    current: { id: 'chat_1', status } as ChatResponse,
    isBusy: status === 'streaming',
    view: { title } as ConversationView,
  });
  const wait = (ms: number) => {
    nowMs += ms;
  };
  return { attention, news, titles, states, sessionWith, wait };
}

const NONE = new Set<string>();

it('rings once for each question that begins to wait', () => {
  const { attention, news, sessionWith } = open();
  const session = sessionWith('waiting');
  attention.update(session, NONE);
  expect(news()).toBe('');
  attention.update(session, new Set(['one']));
  expect(news()).toBe('\x07');
  attention.update(session, new Set(['one']));
  expect(news()).toBe('');
  attention.update(session, new Set(['one', 'two']));
  expect(news()).toBe('\x07');
  attention.update(session, new Set(['two']));
  expect(news()).toBe('');
});

it('rings at the end of an answer that took longer than ten seconds', () => {
  const { attention, news, sessionWith, wait } = open();
  for (const [ms, rings] of [
    [9_000, ''],
    [11_000, '\x07'],
  ] as const) {
    attention.update(sessionWith('streaming'), NONE);
    wait(ms);
    attention.update(sessionWith('completed'), NONE);
    expect(news()).toBe(rings);
    attention.update(sessionWith('completed'), NONE);
    expect(news()).toBe('');
  }
});

it.each([
  ['xterm-kitty', '\x07\x1b]9;A question waits: Shop\x07'],
  ['foot', '\x07\x1b]777;notify;drawbridge;A question waits: Shop\x07'],
  ['xterm', '\x07'],
])('calls a person whose terminal has no focus: %s', (TERM, called) => {
  const { attention, news, sessionWith } = open({ TERM });
  expect(attention.takes('\x1b[O')).toBe(true);
  attention.update(sessionWith('waiting'), new Set(['one']));
  expect(news()).toBe(called);
  expect(attention.takes('\x1b[I')).toBe(true);
  attention.update(sessionWith('waiting'), new Set(['two']));
  expect(news()).toBe('');
  expect(attention.takes('x')).toBe(false);
});

it('has the title of the conversation in the window, with a mark while something waits', () => {
  const { attention, titles, states, sessionWith } = open();
  attention.update(sessionWith('streaming'), NONE);
  attention.update(sessionWith('waiting', 'Shop\x07\x1b]0;bad'), new Set(['one']));
  attention.update(sessionWith('completed', ''), NONE);
  expect(titles).toEqual(['Shop', '● Shop␇␛]0;bad', 'drawbridge']);
  expect(states).toEqual(['working', 'blocked', 'idle']);
});

it('puts no control characters of a title into a notice', () => {
  const { attention, news, sessionWith } = open({ VTE_VERSION: '7000' });
  attention.takes('\x1b[O');
  attention.update(sessionWith('waiting', 'a;b\x07\x1b]52;c;x\x07'), new Set(['one']));
  expect(news()).toBe('\x07\x1b]777;notify;drawbridge;A question waits: a,b␇␛]52,c,x␇\x07');
});

it('leaves the terminal as it was', () => {
  const { attention, news, states } = open();
  attention.start();
  expect(news()).toBe('\x1b[22;0t\x1b[?1004h');
  attention.stop();
  expect(news()).toBe('\x1b[?1004l\x1b[23;0t');
  expect(states).toEqual(['clear']);
});

/** The place of the composer on a terminal in memory, with a scripted session and a clock that the test moves. */
import { Editor, TuiMainScreen } from '@earendil-works/pi-tui';
import { onTestFinished } from 'vitest';
import type { Chat } from '../../../../cli/chat/chat.ts';
import type { ApprovalReply } from '../../../../cli/questions/approval.ts';
import { coloured, plain } from '../../../../cli/terminal/paint.ts';
import type { DialogDesk, DialogSession } from '../../../../cli/tui/dialogs/dialog.ts';
import { DialogSlot } from '../../../../cli/tui/dialogs/slot.ts';
import { editorTheme } from '../../../../cli/tui/theme.ts';
import type { ChatResponse, ClientError, ReadEvent } from '../../../../client/index.ts';
import type { Proposal } from '../../../../shared/wire/approvals.ts';
import type { SubagentAsk } from '../../../../shared/wire/subagents.ts';
import { BRIDGE_ID, CONVERSATION_ID, RESPONSE_ID } from '../../../client/sample-tape.ts';
import { newDevice } from '../../chat/scripted-chat.ts';
import { openVirtualTerminal } from '../virtual-terminal.ts';

export const KEYS = {
  enter: '\r',
  escape: '\x1b',
  tab: '\t',
  up: '\x1b[A',
  down: '\x1b[B',
  pageDown: '\x1b[6~',
  pageUp: '\x1b[5~',
  end: '\x1b[F',
  backspace: '\x7f',
} as const;

export interface SlotOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly asks?: readonly SubagentAsk[];
  /** Without a key of this machine. */
  readonly isKeyless?: boolean;
  readonly isColoured?: boolean;
  /** What the server refuses the next answers with. */
  readonly refusals?: ClientError[];
  /** What happens before the server says where a call will run. */
  readonly onPlace?: () => Promise<void>;
  /** What happens while the server takes an answer. */
  readonly onAnswer?: () => Promise<void>;
  /** What the person saves in the editor; undefined for an editor that fails. */
  readonly edits?: (file: string) => Promise<boolean>;
  readonly chat?: Partial<Chat>;
}

/** An answer as the client got it. */
export type Sent =
  | { readonly type: 'allow' | 'reject'; readonly question: object; readonly reply: object }
  | { readonly type: 'answers' | 'execute' | 'save'; readonly words: readonly unknown[] };

export async function openSlot(options: SlotOptions = {}) {
  const { columns = 80, rows = 24, isKeyless = false, refusals = [] } = options;
  const terminal = openVirtualTerminal(columns, rows);
  const tui = new TuiMainScreen(terminal);
  const paint = options.isColoured ? coloured : plain;
  const look = { paint, answeredHere: new Set<string>() };
  const sent: Sent[] = [];
  const said: string[] = [];
  const submitted: string[] = [];
  const timers = new Set<{ readonly work: () => void; readonly dueMs: number }>();
  let nowMs = 0;
  const answer = async (one: Sent) => {
    await options.onAnswer?.();
    const refusal = refusals.shift();
    if (refusal) throw refusal;
    sent.push(one);
  };
  const client = {
    allowCall: (question: object, _device: object, reply: Omit<ApprovalReply, 'decision'>) =>
      answer({ type: 'allow', question, reply }),
    rejectCall: (question: object, reply: object) => answer({ type: 'reject', question, reply }),
    answerClarification: (...words: unknown[]) => answer({ type: 'answers', words }),
    async *executePlan(...words: unknown[]) {
      await answer({ type: 'execute', words });
      yield { position: 1, event: { type: 'heartbeat' } as ReadEvent };
    },
    async *savePlan(...words: unknown[]) {
      await answer({ type: 'save', words });
      yield { position: 1, event: { type: 'heartbeat' } as ReadEvent };
    },
    getBridge: async () => {
      await options.onPlace?.();
      return { workspacePath: '/work/shop' };
    },
  };
  const session = {
    asks: options.asks ?? [],
    chat: {
      client,
      device: isKeyless ? null : await newDevice(),
      conversationId: CONVERSATION_ID,
      mode: 'plan',
      ...options.chat,
    },
    current: undefined as ChatResponse | undefined,
    isBusy: false,
    queued: [],
    view: undefined,
    send: async (content: unknown) => void submitted.push(String(content)),
  };
  const desk: DialogDesk = {
    tui,
    look,
    session: session as unknown as DialogSession,
    say: (words) => void said.push(words),
    edit: options.edits ?? (() => Promise.resolve(false)),
    nowMs: () => nowMs,
    later(work, ms) {
      const timer = { work, dueMs: nowMs + ms };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
  };
  const composer = new SlotComposer(tui, editorTheme(paint));
  composer.onSubmit = (text) => {
    if (text !== '') submitted.push(text);
  };
  const slot = new DialogSlot(desk, composer);
  tui.addInputListener((data) => (slot.takes(data) ? { consume: true } : undefined));
  tui.addChild(slot);
  tui.addChild({ invalidate() {}, render: () => ['the status'] });
  tui.start();
  onTestFinished(() => tui.stop());
  const settle = async () => {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    tui.renderNow();
  };
  const screen = async () => {
    await settle();
    return await terminal.screen();
  };
  const type = async (...keys: readonly string[]) => {
    for (const key of keys) terminal.type(key);
    await settle();
  };
  const wait = async (ms: number) => {
    nowMs += ms;
    for (const timer of [...timers].filter(({ dueMs }) => dueMs <= nowMs)) {
      timers.delete(timer);
      timer.work();
    }
    await settle();
  };
  slot.update();
  await settle();
  return {
    slot,
    session,
    terminal,
    look,
    composer,
    sent,
    said,
    submitted,
    screen,
    settle,
    /** Keys without a pause between them. */
    type,
    wait,
    /** Keys as a person presses them who looks first. */
    press: async (...keys: readonly string[]) => {
      for (const key of keys) {
        await settle();
        await wait(1_000);
        await type(key);
        await wait(100);
      }
    },
    /** What waits now. */
    async ask(...asks: readonly SubagentAsk[]) {
      session.asks = asks;
      slot.update();
      await settle();
    },
  };
}

let nonces = 0;

/** Each is another question. */
export function approvalOf(
  proposal: Proposal,
  more: Partial<Extract<SubagentAsk, { kind: 'approval' }>> = {},
): Extract<SubagentAsk, { kind: 'approval' }> {
  const nonce = `nonce-${++nonces}`;
  return {
    kind: 'approval',
    conversationId: CONVERSATION_ID,
    title: 'Shop',
    bridgeId: BRIDGE_ID,
    responseId: RESPONSE_ID,
    documentId: 'doc_001',
    reason: 'Commands ask.',
    nonce,
    proposal,
    callId: `call_00000000-0000-4000-8000-${String(nonces).padStart(12, '0')}`,
    ...more,
  };
}

export function commandOf(command: string, folder = '.'): Proposal {
  return {
    kind: 'command',
    tool: 'run_terminal_cmd',
    command,
    folder,
    permissions: [],
    background: false,
    timeLimitMs: null,
    confinement: 'bubblewrap',
  };
}

class SlotComposer extends Editor {
  get isEmpty(): boolean {
    return this.getText() === '';
  }

  putBack(text: string): void {
    this.setText(text);
  }
}

/** A terminal in memory, whose screen can be read: for parts of the screen without a process. */
import type { Terminal } from '@earendil-works/pi-tui';
import { Terminal as Emulator } from '@xterm/headless';

export interface VirtualTerminal extends Terminal {
  /** What stands on the screen now, without blanks at the ends of lines and without empty lines at the end. */
  screen(): Promise<string>;
  /** What has scrolled away and what stands on the screen, without blanks at the ends of lines. */
  history(): Promise<string[]>;
  type(data: string): void;
  resize(columns: number, rows: number): void;
  /** Everything that was written. */
  readonly written: () => string;
}

export function openVirtualTerminal(columns = 80, rows = 24): VirtualTerminal {
  const emulator = new Emulator({ cols: columns, rows, allowProposedApi: true });
  let [onInput, onResize]: [(data: string) => void, () => void] = [() => {}, () => {}];
  let written = '';
  const write = (data: string) => {
    written += data;
    emulator.write(data);
  };
  const history = async () => {
    // The emulator takes what was written in its own time.
    await new Promise<void>((resolve) => emulator.write('', resolve));
    const { active } = emulator.buffer;
    return Array.from(
      { length: active.baseY + emulator.rows },
      (_, at) => active.getLine(at)?.translateToString(true) ?? '',
    );
  };
  return {
    start(input, resized) {
      [onInput, onResize] = [input, resized];
    },
    stop() {},
    drainInput: () => Promise.resolve(),
    write,
    get columns() {
      return emulator.cols;
    },
    get rows() {
      return emulator.rows;
    },
    kittyProtocolActive: false,
    moveBy: (lines) => write(lines > 0 ? `\x1b[${lines}B` : `\x1b[${-lines}A`),
    hideCursor: () => write('\x1b[?25l'),
    showCursor: () => write('\x1b[?25h'),
    clearLine: () => write('\x1b[K'),
    clearFromCursor: () => write('\x1b[J'),
    clearScreen: () => write('\x1b[2J\x1b[H'),
    setTitle() {},
    setProgress() {},
    setProgramStatus() {},
    history,
    async screen() {
      const lines = await history();
      return lines.slice(emulator.buffer.active.baseY).join('\n').trimEnd();
    },
    type: (data) => onInput(data),
    resize(width, height) {
      emulator.resize(width, height);
      onResize();
    },
    written: () => written,
  };
}

/** The library's screen, below what other programs wrote: it draws what it can reach and clears no scrollback. */
import { TuiMainScreen, visibleWidth } from '@earendil-works/pi-tui';

export class MainScreen extends TuiMainScreen {
  #size = '';
  /** When the size changed last. */
  #sizedMs = 0;
  /** The lines of this drawing and of the last one, before the library changes them. */
  #lines: readonly string[] = [];
  #drawn: readonly string[] = [];
  /** How many of the drawn lines belong to the first part, which is what was said. */
  #saidCount = 0;
  /** The first line above the window that has changed since it was drawn. */
  #stale: number | undefined;

  /** Leaves the terminal to another program. The first `kept` lines stay; what stands below them makes room. */
  leaveBelow(kept: number): void {
    const { previousLines, hardwareCursorRow, previousViewportTop } = this.captureRenderState();
    if (previousLines.length === 0) return this.stop();
    const up = hardwareCursorRow - Math.max(kept, previousViewportTop);
    if (up > 0) this.terminal.write(`\x1b[${up}A`);
    if (up < 0) this.terminal.write(`\x1b[${-up}B`);
    this.terminal.write('\r\x1b[J');
    this.stop({ preserveScreen: true });
  }

  /** Takes the terminal back. Draws below the cursor all but the first `drawn` lines, which stand above it. */
  goOnBelow(drawn: number): void {
    this.#lines = super.render(this.terminal.columns);
    this.#drawn = this.#lines;
    const row = Math.max(0, drawn - 1);
    this.restoreRenderState({
      ...this.captureRenderState(),
      previousLines: this.#finished().slice(0, drawn),
      cursorRow: row,
      hardwareCursorRow: row,
      previousViewportTop: row,
    });
    this.start();
    // A drawing that was asked for before the terminal was left would hold up the next one.
    this.renderNow();
  }

  /** How many of the first lines are still as they were drawn last. */
  get unchangedLines(): number {
    const lines = super.render(this.terminal.columns);
    return firstChange(this.#drawn, lines, this.#drawn.length) ?? this.#drawn.length;
  }

  /** Draws once more what a person's command has changed: the window, or so many of the last lines. */
  drawChanged(maxRows = 0): void {
    if (this.stopped || this.#drawn.length === 0) return this.requestRender();
    this.#lines = super.render(this.terminal.columns);
    const { length } = this.#lines;
    const first = firstChange(this.#drawn, this.#lines, this.#drawn.length) ?? length;
    if (first < this.captureRenderState().previousViewportTop) {
      const most = Math.max(maxRows, this.terminal.rows);
      this.#drawAgainFrom(Math.max(this.#blockOf(first), length - most));
    }
    this.#drawn = this.#lines;
    this.renderNow();
  }

  /** Draws once more what has changed above the window: its old lines stay where the terminal has them. */
  drawStale(): void {
    if (this.stopped || this.#stale === undefined) return;
    this.#lines = super.render(this.terminal.columns);
    if (!this.#isNear(this.#stale)) return;
    this.#drawAgainFrom(this.#lineAgain(this.#stale));
    this.renderNow();
  }

  override render(): readonly string[] {
    return this.#lines;
  }

  protected override doRender(): void {
    if (this.stopped) return;
    const { columns, rows } = this.terminal;
    const size = `${columns} ${rows}`;
    const nowMs = performance.now();
    if (size !== this.#size) [this.#size, this.#sizedMs] = [size, nowMs];
    const { previousWidth, previousHeight } = this.captureRenderState();
    const isResized = previousWidth !== 0 && size !== `${previousWidth} ${previousHeight}`;
    const restMs = this.#sizedMs + SETTLED_MS - nowMs;
    if (isResized && restMs > 0) return void setTimeout(() => this.requestRender(), restMs);
    this.#lines = super.render(columns);
    if (isResized) this.#emptyWindow();
    else this.#passOverChanges();
    const { fullRedraws } = this;
    super.doRender();
    if (this.fullRedraws > fullRedraws) this.#stale = undefined;
    this.#drawn = this.#lines;
    this.#saidCount = this.children[0]?.render(columns).length ?? 0;
  }

  /** Clears what the program has drawn in the window, and lets the library draw it from there. */
  #emptyWindow(): void {
    const { columns, rows } = this.terminal;
    const { hardwareCursorRow } = this.captureRenderState();
    // As the terminal has wrapped them.
    const rowsFrom = (line: number) =>
      this.#drawn
        .slice(line, hardwareCursorRow)
        .reduce((sum, each) => sum + Math.max(1, Math.ceil(visibleWidth(each) / columns)), 0);
    const up = rowsFrom(0);
    if (up < rows) {
      this.terminal.write(`${upBy(up)}${CLEAR_BELOW}`);
      return this.#drawFrom(0);
    }
    // The lines of the new width that fit can be fewer than those that stand here: what was said goes up first.
    const said = Math.max(0, rows - (this.#drawn.length - this.#saidCount));
    const below = `${upBy(rowsFrom(this.#saidCount))}${CLEAR_BELOW}`;
    this.terminal.write(`${below}\x1b[${rows};1H${'\n'.repeat(said)}\x1b[H${CLEAR_BELOW}`);
    this.#drawFrom(Math.max(0, this.#lines.length - rows));
  }

  /**
   * Lines above the window cannot be changed. Where only they have changed they are passed over; where others have moved
   * with them, the lines from the first changed one on are drawn once more. If they are many, only the last ones are.
   */
  #passOverChanges(): void {
    const state = this.captureRenderState();
    const { previousViewportTop: top, previousLines } = state;
    const [drawn, lines] = [this.#drawn, this.#lines];
    const first = firstChange(drawn, lines, Math.min(top, drawn.length));
    if (first === undefined) return;
    const both = Math.min(this.#stale ?? first, first);
    const stale = this.#isNear(both) ? both : first;
    const anchor = lines.findIndex((line, at) => at >= top && line.trim() !== '');
    const isInPlace = drawn.length === lines.length || drawn[anchor] === lines[anchor];
    if (anchor < 0 || !isInPlace) {
      // What stood in the window can have moved up, and is cleared.
      const last = Math.max(0, Math.min(top, lines.length) - this.terminal.rows);
      return this.#drawAgainFrom(this.#isNear(stale) ? this.#lineAgain(stale) : last);
    }
    this.#stale = stale;
    const passed = this.#finished().slice(0, top);
    this.restoreRenderState({ ...state, previousLines: [...passed, ...previousLines.slice(top)] });
  }

  /** Whether the lines from a changed one on are few enough to draw them once more. */
  #isNear(stale: number): boolean {
    return this.#lines.length - this.#lineAgain(stale) <= MAX_AGAIN_ROWS;
  }

  /** Where the lines begin that are drawn once more for a changed one: its block, or at least the last lines. */
  #lineAgain(stale: number): number {
    return Math.max(0, Math.min(this.#blockOf(stale), this.#lines.length - MIN_AGAIN_ROWS));
  }

  /** A block whose middle has changed is drawn whole. */
  #blockOf(line: number): number {
    return 1 + this.#lines.findLastIndex((each, at) => at < line && each.trim() === '');
  }

  /** Clears the window, and draws from there. */
  #drawAgainFrom(line: number): void {
    const { hardwareCursorRow, previousViewportTop } = this.captureRenderState();
    this.terminal.write(`${upBy(hardwareCursorRow - previousViewportTop)}${CLEAR_BELOW}`);
    this.#drawFrom(line);
    this.#stale = undefined;
  }

  /** Lets the library draw from a line on, at the cursor, with nothing below it. */
  #drawFrom(line: number): void {
    const { columns: previousWidth, rows: previousHeight } = this.terminal;
    this.restoreRenderState({
      ...this.captureRenderState(),
      previousWidth,
      previousHeight,
      // Without any lines the library draws all.
      previousLines: line === 0 ? [] : this.#finished().map((each, at) => (at < line ? each : '')),
      cursorRow: line,
      hardwareCursorRow: line,
      previousViewportTop: line,
    });
  }

  /** As the library compares them at the next drawing. */
  #finished(): string[] {
    return this.applyLineResets(this.resolveFakeCursors([...this.#lines]));
  }
}

/** The index of the first of so many lines that differ. */
function firstChange(
  before: readonly string[],
  after: readonly string[],
  count: number,
): number | undefined {
  for (let at = 0; at < count; at++) if (before[at] !== after[at]) return at;
  return undefined;
}

/** To the beginning of a line above. */
function upBy(rows: number): string {
  return rows > 0 ? `\r\x1b[${rows}A` : '\r';
}

/** From the cursor's line on. tmux moves a window into its history that is cleared from the first column on. */
const CLEAR_BELOW = '\x1b[2K\x1b[1C\x1b[J\r';

/** A window that a person drags changes its size many times a second. */
const SETTLED_MS = 60;

/** Lines that are drawn once more where some above the window have changed. Changes farther up are not drawn. */
const MIN_AGAIN_ROWS = 8;
const MAX_AGAIN_ROWS = 200;

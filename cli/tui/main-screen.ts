/** The library's screen, which goes on below what another program wrote: it clears nothing of the person's scrollback. */
import { TuiMainScreen } from '@earendil-works/pi-tui';

export class MainScreen extends TuiMainScreen {
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
    const state = this.captureRenderState();
    const row = Math.max(0, drawn - 1);
    this.restoreRenderState({
      ...state,
      previousLines: this.#lines().slice(0, drawn),
      ...{ cursorRow: row, hardwareCursorRow: row, previousViewportTop: row },
    });
    this.start();
    // A drawing that was asked for before the terminal was left would hold up the next one.
    this.renderNow();
  }

  /** How many of the first lines are still as they were drawn last. */
  get unchangedLines(): number {
    const { previousLines } = this.captureRenderState();
    const lines = this.#lines();
    const changed = previousLines.findIndex((line, at) => line !== lines[at]);
    return changed < 0 ? previousLines.length : changed;
  }

  /** As they are compared at the next drawing. */
  #lines(): string[] {
    return this.applyLineResets(this.resolveFakeCursors(this.render(this.terminal.columns)));
  }
}

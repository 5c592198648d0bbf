/** Shows on one line after each 25 files how far the tests are, in a terminal and in a pipe. */
import type { Reporter, TestModule, TestSpecification } from 'vitest/node';

const FILES_PER_LINE = 25;

export class Progress implements Reporter {
  #files = 0;
  #finished = 0;
  #tests = 0;
  #failed = 0;
  #startedAt = 0;

  onTestRunStart(files: readonly TestSpecification[]): void {
    this.#files = files.length;
    this.#finished = this.#tests = this.#failed = 0;
    this.#startedAt = performance.now();
  }

  onTestModuleEnd(file: TestModule): void {
    this.#finished += 1;
    for (const test of file.children.allTests()) {
      this.#tests += 1;
      if (test.result().state === 'failed') this.#failed += 1;
    }
    if (this.#finished % FILES_PER_LINE !== 0) return;
    const seconds = Math.round((performance.now() - this.#startedAt) / 1000);
    const failed = this.#failed === 0 ? '' : `, ${this.#failed} failed`;
    process.stdout.write(
      `${this.#finished} of ${this.#files} files, ${this.#tests} tests${failed}, ${seconds} s\n`,
    );
  }
}

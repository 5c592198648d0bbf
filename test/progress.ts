/** Shows after each 25 files how far the tests are, and each failure at once: a run that is cut off has shown it. */
import type { Reporter, TestModule, TestSpecification, TestUserConfig } from 'vitest/node';

/** The reporters of every run. With TEST_REPORT, the results also go into that file as JSON. */
export function reporters(first: 'minimal' | 'default'): NonNullable<TestUserConfig['reporters']> {
  const { TEST_REPORT: outputFile } = process.env;
  const progress = new Progress();
  return outputFile ? [[first, {}], progress, ['json', { outputFile }]] : [[first, {}], progress];
}

const FILES_PER_LINE = 25;
const MAX_REASON_CHARS = 600;

class Progress implements Reporter {
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
      const { state, errors = [] } = test.result();
      if (state !== 'failed') continue;
      this.#failed += 1;
      const why = errors[0]?.message.slice(0, MAX_REASON_CHARS);
      process.stdout.write(`failed: ${file.relativeModuleId}: ${test.fullName}\n${why}\n`);
    }
    if (this.#finished % FILES_PER_LINE !== 0) return;
    const seconds = Math.round((performance.now() - this.#startedAt) / 1000);
    const failed = this.#failed === 0 ? '' : `, ${this.#failed} failed`;
    process.stdout.write(
      `${this.#finished} of ${this.#files} files, ${this.#tests} tests${failed}, ${seconds} s\n`,
    );
  }
}

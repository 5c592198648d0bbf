/** Shows how far the tests are, and each failure at once: a run that is cut off has shown it. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Reporter, TestModule, TestSpecification, TestUserConfig } from 'vitest/node';

/** The reporters of every run. With TEST_REPORT, the results also go into that file as JSON. */
export function reporters(first: 'minimal' | 'default'): NonNullable<TestUserConfig['reporters']> {
  const { TEST_REPORT: outputFile } = process.env;
  const progress = new Progress((text) => process.stdout.write(text));
  return outputFile ? [[first, {}], progress, ['json', { outputFile }]] : [[first, {}], progress];
}

/** Between two lines. */
const LINE_MS = 10_000;
const MAX_REASON_CHARS = 600;

/** What is skipped where none of the programs is found. */
const NEEDED: readonly (readonly [programs: readonly string[], tests: string])[] = [
  [['bwrap'], 'the sandbox (bubblewrap)'],
  [['chromium', 'chromium-browser', 'google-chrome'], 'the page in Chromium'],
  [['firefox', 'firefox-esr'], 'the page in Firefox'],
  [['tmux'], 'whole screens (tmux)'],
  [['script'], 'terminals (util-linux)'],
  [['gcc', 'cc'], 'system calls (gcc)'],
];

export class Progress implements Reporter {
  readonly #write: (text: string) => void;
  #files = 0;
  #finished = 0;
  #tests = 0;
  #failed = 0;
  #startedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  onTestRunStart(files: readonly TestSpecification[]): void {
    this.#files = files.length;
    this.#finished = this.#tests = this.#failed = 0;
    this.#startedAt = performance.now();
    const skipped = NEEDED.filter(([programs]) => !programs.some(isOnPath));
    const without = skipped.map(([, tests]) => tests).join(', ');
    this.#write(`${files.length} files of tests${without && `; skipped: ${without}`}\n`);
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#say(), LINE_MS);
    this.#timer.unref();
  }

  onTestModuleEnd(file: TestModule): void {
    this.#finished += 1;
    for (const test of file.children.allTests()) {
      this.#tests += 1;
      const { state, errors = [] } = test.result();
      if (state !== 'failed') continue;
      this.#failed += 1;
      const why = errors[0]?.message.slice(0, MAX_REASON_CHARS);
      this.#write(`failed: ${file.relativeModuleId}: ${test.fullName}\n${why}\n`);
    }
  }

  onTestRunEnd(): void {
    clearInterval(this.#timer);
  }

  #say(): void {
    const seconds = Math.round((performance.now() - this.#startedAt) / 1000);
    const failed = this.#failed === 0 ? '' : `, ${this.#failed} failed`;
    const files = `${this.#finished} of ${this.#files} files`;
    this.#write(`${files}, ${this.#tests} tests${failed}, ${seconds} s\n`);
  }
}

function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false; // It is in another folder, or nowhere.
    }
  });
}

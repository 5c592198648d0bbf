/** One shell for many commands: a new one for each would take most of a generated test's time. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

export class Shell implements AsyncDisposable {
  readonly #process = spawn('bash', ['--norc', '--noprofile'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, ...GIT },
  });
  #output = '';
  #wake = () => {};

  constructor() {
    this.#process.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
      this.#wake();
    });
  }

  /** Runs the line in a folder, in a shell of its own, and resolves once it has ended. */
  async run(line: string, folder: string): Promise<void> {
    this.#output = '';
    this.#process.stdin.write(
      `(cd '${folder}' && ${line}\n) >/dev/null 2>&1 </dev/null; echo END\n`,
    );
    while (!this.#output.includes('END'))
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.stdin.end();
    await once(this.#process, 'close');
  }
}

/** No setting of this machine decides what git does. */
const GIT = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  ...{ GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a' },
  GIT_COMMITTER_EMAIL: 'a@b',
};

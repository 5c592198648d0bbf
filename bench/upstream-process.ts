/** Starts the scripted upstream as a process, so that it takes no time from the client that measures. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';

export interface Upstream extends AsyncDisposable {
  /** As OPENAI_BASE_URL has it. */
  readonly baseUrl: string;
}

const Listening = z.object({ port: z.int() });

/** The program serves by upstream-server.ts. Resolves when it listens; its disposal ends it. */
export async function startUpstream(program: string): Promise<Upstream> {
  const child = fork(program, { stdio: ['ignore', 2, 2, 'ipc'] });
  const exited = once(child, 'exit');
  const died = exited.then(([code]) => {
    throw new Error(`The upstream ended with ${code}.`);
  });
  const [message] = await Promise.race([once(child, 'message'), died]);
  return {
    baseUrl: `http://127.0.0.1:${Listening.parse(message).port}/v1`,
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
    },
  };
}

/** Starts the model of the rounds as a process, which no kill is for. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { z } from 'zod';
import type { Upstream } from '../upstream-process.ts';

const Listening = z.object({ port: z.int() });

/** Resolves when it listens; its disposal ends it. */
export async function startUpstream(): Promise<Upstream> {
  const path = join(import.meta.dirname, 'upstream.ts');
  const child = fork(path, { stdio: ['ignore', 2, 2, 'ipc'] });
  const exited = once(child, 'exit');
  const [message] = await Promise.race([once(child, 'message'), exited]);
  return {
    baseUrl: `http://127.0.0.1:${Listening.parse(message).port}/v1`,
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
    },
  };
}

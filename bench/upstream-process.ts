/** Starts the scripted upstream as a process, so that it takes no time from the measuring client. */
import { fork } from 'node:child_process';
import { on, once } from 'node:events';
import { UpstreamReport } from './upstream-reports.ts';

export interface Upstream extends AsyncDisposable {
  /** The value for OPENAI_BASE_URL. */
  readonly baseUrl: string;
  /** The next report of this type after the call. @throws if the signal aborts first. */
  next<Type extends UpstreamReport['type']>(
    type: Type,
    signal: AbortSignal,
  ): Promise<Extract<UpstreamReport, { type: Type }>>;
}

/** Starts a program that uses upstream-server.ts. Resolves when it listens; disposal ends it. */
export async function startUpstream(program: string): Promise<Upstream> {
  const child = fork(program, { stdio: ['ignore', 2, 2, 'ipc'] });
  const exited = once(child, 'exit');
  const died = exited.then(([code]) => {
    throw new Error(`The upstream ended with ${code}.`);
  });
  const next: Upstream['next'] = async (type, signal) => {
    for await (const [message] of on(child, 'message', { signal })) {
      const reported = UpstreamReport.parse(message);
      if (reported.type === type) return reported as Extract<UpstreamReport, { type: typeof type }>;
    }
    throw new Error('The upstream reports nothing any more.');
  };
  const { port } = await Promise.race([next('listening', NEVER), died]);
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    next,
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
    },
  };
}

const NEVER = new AbortController().signal;

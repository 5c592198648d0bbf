/** `drawbridge` called as a function of this process: a process of its own costs twenty times as much. */
import { Readable } from 'node:stream';
import { main } from '../../cli/main.ts';
import { DRAWBRIDGE } from './bundle.ts';
import { environmentOf, type Finished, type StartOptions } from './drawbridge.ts';
import { newPrograms } from './fixtures/programs.ts';

/** Environment, folder and output belong to the process: one command at a time. */
let last: Promise<unknown> = Promise.resolve();

/** Runs a command that starts nothing that outlives it. Its stdin is empty. */
export function callDrawbridge(
  args: readonly string[],
  { env = {}, cwd }: Pick<StartOptions, 'env' | 'cwd'> = {},
): Promise<Finished> {
  const called = last.then(() => callAlone(args, environmentOf(env), cwd));
  last = called.catch(() => {});
  return called;
}

async function callAlone(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd = process.cwd(),
): Promise<Finished> {
  const { argv, exit } = process;
  const before = { env: { ...process.env }, cwd: process.cwd() };
  const restoreListeners = [process, process.stdout, process.stderr].map(keepListeners);
  const texts = { stdout: '', stderr: '' };
  const restoreOutput = (['stdout', 'stderr'] as const).map((name) =>
    replaceWrite(process[name], (text) => {
      texts[name] += text;
    }),
  );
  setEnvironment(env);
  process.chdir(cwd);
  process.argv = [process.execPath, DRAWBRIDGE, ...args];
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin') ?? {};
  Object.defineProperty(process, 'stdin', { value: Readable.from([]), configurable: true });
  let code: number | undefined;
  const exited = new Promise<void>((resolve) => {
    process.exit = ((status) => {
      code ??= Number(status ?? process.exitCode ?? 0);
      resolve();
    }) as typeof process.exit;
  });
  try {
    await Promise.race([main(args, newPrograms(DRAWBRIDGE)), exited]);
    return { code: code ?? Number(process.exitCode ?? 0), ...texts };
  } finally {
    Object.assign(process, { argv, exit });
    Object.defineProperty(process, 'stdin', stdin);
    process.exitCode = undefined;
    process.chdir(before.cwd);
    setEnvironment(before.env);
    for (const restore of [...restoreListeners, ...restoreOutput]) restore();
  }
}

/** Changes the real environment, which `os.homedir` reads too. */
function setEnvironment(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}

type Write = (chunk: string | Uint8Array, ...rest: unknown[]) => boolean;

function replaceWrite(stream: NodeJS.WriteStream, take: (text: string) => void): () => void {
  const write: Write = (chunk, ...rest) => {
    take(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
    const done = rest.at(-1);
    if (typeof done === 'function') done();
    return true;
  };
  const own = Object.getOwnPropertyDescriptor(stream, 'write');
  Object.defineProperty(stream, 'write', { value: write, configurable: true, writable: true });
  return () => {
    if (own) Object.defineProperty(stream, 'write', own);
    else Reflect.deleteProperty(stream, 'write');
  };
}

/** Removes later what a command listens to from now on. */
function keepListeners(emitter: NodeJS.EventEmitter): () => void {
  const before = new Map(emitter.eventNames().map((name) => [name, emitter.listeners(name)]));
  return () => {
    for (const name of emitter.eventNames()) {
      for (const listener of emitter.listeners(name)) {
        if (!before.get(name)?.includes(listener)) {
          emitter.off(name, listener as (...args: unknown[]) => void);
        }
      }
    }
  };
}

/** Starts a program with exactly the descriptors that it should have. */
import { type ChildProcess, spawn } from 'node:child_process';
import { INHERITED, NOTHING } from './inherited.ts';
import type { Launch } from './launch.ts';

/** The program leads its own process group. Its outputs are pipes, and it gets no other descriptor of this process. */
export function spawnLaunch(
  { file, args, cwd, env, inputs, descriptors = [] }: Launch,
  stdin: 'ignore' | 'pipe',
): ChildProcess {
  const pipes = inputs.map(() => 'pipe' as const);
  const given: StdioItem[] = [stdin, 'pipe', 'pipe', ...pipes, ...descriptors];
  const stdio = withoutInherited(given);
  const child = spawn(file, args, { cwd, env, detached: true, stdio });
  for (const [index, bytes] of inputs.entries()) {
    const stream = child.stdio[index + 3];
    if (stream === null || stream === undefined || !('end' in stream)) continue;
    // A program that ends before it has read its input says why by its exit.
    stream.on('error', () => {}).end(bytes);
  }
  return child;
}

type StdioItem = 'ignore' | 'pipe' | number;

/** `ignore` would leave an inherited descriptor open. */
function withoutInherited(given: readonly StdioItem[]): StdioItem[] {
  const others = INHERITED.filter((descriptor) => descriptor >= given.length);
  const length = Math.max(given.length, ...others.map((descriptor) => descriptor + 1));
  return Array.from({ length }, (_, descriptor) =>
    others.includes(descriptor) ? NOTHING : (given[descriptor] ?? 'ignore'),
  );
}

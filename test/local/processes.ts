/** What runs on this machine, as `ps` sees it. */
import { execFileSync } from 'node:child_process';

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** The processes whose command line holds `text`. A zombie has none, so it does not count. */
export function processesWith(text: string): Process[] {
  return allProcesses().filter(({ command }) => command.includes(text));
}

/** The process and everything it has started, directly or not. */
export function treeOf(pid: number): Process[] {
  const all = allProcesses();
  const tree = all.filter((process) => process.pid === pid);
  for (const { pid: parent } of tree) tree.push(...all.filter((each) => each.parent === parent));
  return tree;
}

export function isAlive(pid: number): boolean {
  return allProcesses().some((process) => process.pid === pid);
}

function allProcesses(): Process[] {
  const text = execFileSync('ps', ['-axww', '-o', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' });
  return Array.from(
    text.matchAll(/^ *(\d+) +(\d+) +([^Z\s]\S*) +(.*)$/gm),
    ([, pid, parent, , command = '']) => ({ pid: Number(pid), parent: Number(parent), command }),
  );
}

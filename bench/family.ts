/** Reads from Linux how much memory a process and those below it take. */
import { readdirSync, readFileSync } from 'node:fs';

export interface Member {
  readonly pid: number;
  /** `daemon`, `bridge-host` or `serve` for our own programs, else the program's path. */
  readonly command: string;
  /** In MB (10^6 bytes). Memory that several processes share counts once in all (PSS). */
  readonly mb: number;
}

/** The process and those below it; itself first. */
export function familyOf(root: number): number[] {
  const family = [root];
  for (const parent of family) {
    const children = readdirSync('/proc').filter(
      (pid) => /^\d+$/.test(pid) && parentOf(pid) === parent,
    );
    family.push(...children.map(Number));
  }
  return family;
}

/** The process itself comes first. */
export function memoryOf(root: number): Member[] {
  return familyOf(root).map((pid) => {
    const rollup = readProc(pid, 'smaps_rollup');
    const kib = Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? 0);
    const words = readProc(pid, 'cmdline').split('\0');
    const command = words.find((word) => /^(?:daemon|bridge-host|serve)$/.test(word)) ?? words[0];
    return { pid, command: command ?? '', mb: (kib * 1024) / 1e6 };
  });
}

function parentOf(pid: string): number {
  const stat = readProc(pid, 'stat');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

/** Empty if the process is gone since it was listed. */
function readProc(pid: string | number, file: 'smaps_rollup' | 'cmdline' | 'stat'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

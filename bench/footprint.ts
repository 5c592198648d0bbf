/** Reads the memory and CPU time of a workerd process from Linux. */
import { readdir, readFile } from 'node:fs/promises';
import * as z from 'zod';

export interface Footprint {
  /** Resident memory in MB (10^6 bytes): now, and at its peak. */
  readonly residentMb: number;
  readonly peakMb: number;
  /** CPU time of all threads since the process's start. */
  readonly cpuMs: number;
}

/**
 * The footprint of the process with `argument` in its command line. Null without /proc.
 * @throws if no process has this argument.
 */
export async function footprintOf(argument: string): Promise<Footprint | null> {
  if (process.platform !== 'linux') return null;
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid) || !(await readProc(pid, 'cmdline')).includes(argument)) continue;
    const status = await readProc(pid, 'status');
    return {
      residentMb: megabytes(status, 'VmRSS'),
      peakMb: megabytes(status, 'VmHWM'),
      cpuMs: cpuMsIn(await readProc(pid, 'stat')),
    };
  }
  throw new Error('The process whose footprint is to be measured is gone.');
}

async function readProc(pid: string, file: 'cmdline' | 'status' | 'stat'): Promise<string> {
  // The process may be gone since it was listed.
  return await readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
}

function megabytes(status: string, field: 'VmRSS' | 'VmHWM'): number {
  const kib = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
  return (z.coerce.number<string | undefined>().parse(kib) * 1024) / 1e6;
}

/** `utime` and `stime` of proc_pid_stat(5): 12 and 13 fields after the name in parentheses. */
function cpuMsIn(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')')).split(' ');
  return (Number(fields[12]) + Number(fields[13])) * TICK_MS;
}

/** Linux counts 100 ticks a second on every architecture of Node. */
const TICK_MS = 10;

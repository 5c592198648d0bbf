/** The memory of a workerd process, as Linux tells it. */
import { readdir, readFile } from 'node:fs/promises';
import * as z from 'zod';

/** Resident memory in MB (10^6 bytes): now, and the most there ever was. */
export interface Memory {
  readonly residentMb: number;
  readonly peakMb: number;
}

/**
 * The memory of the one process that has `argument` in its command line. Null where there is no /proc to ask.
 * @throws if there is no such process.
 */
export async function memoryOfProcessWith(argument: string): Promise<Memory | null> {
  if (process.platform !== 'linux') return null;
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid) || !(await readProc(pid, 'cmdline')).includes(argument)) continue;
    const status = await readProc(pid, 'status');
    return { residentMb: megabytes(status, 'VmRSS'), peakMb: megabytes(status, 'VmHWM') };
  }
  throw new Error('The process whose memory is to be measured is gone.');
}

async function readProc(pid: string, file: 'cmdline' | 'status'): Promise<string> {
  // It may have ended since it was listed.
  return await readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
}

function megabytes(status: string, field: 'VmRSS' | 'VmHWM'): number {
  const kib = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
  return (z.coerce.number<string | undefined>().parse(kib) * 1024) / 1e6;
}

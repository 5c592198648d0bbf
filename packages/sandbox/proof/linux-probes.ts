/** What the self-test asks of bubblewrap alone: the kernel's settings, namespaces and limits. */
import { readlink } from 'node:fs/promises';
import { SANDBOX_LIMITS } from '../limits.ts';
import { type Probes, SAID } from './probes.ts';

const NETWORK = 'network ';
const PROCESSES = 'processes ';
const LIMITS = 'limits ';
const MOUNT = 'mount ';
const COUNT = 'mounts ';

/** The script only asks whether it could write to these: a test that succeeds must do no harm. */
const KERNEL_SETTINGS = ['/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger', '/sys/kernel'];

/**
 * One program (grep) reads the mounts, because a shell reads byte by byte. Where a shell cannot open a connection, the
 * name of the network namespace is the proof. In a `/proc` of another PID namespace the shell has another number.
 */
export const LINUX_PROBES: Probes = {
  secrets: ['/etc/shadow'],
  outside: [],
  script: `
for setting in ${KERNEL_SETTINGS.join(' ')}; do
  [ -w "$setting" ] && echo "${SAID.escaped}$setting"
done
echo "${LIMITS}$(ulimit -u 2>/dev/null || ulimit -p) $(ulimit -d)"
grep ' - tmpfs ' /proc/self/mountinfo | grep -v '[ ,]size=' | sed 's/^/${MOUNT}/'
grep -c ' - tmpfs ' /proc/self/mountinfo | sed 's/^/${COUNT}/'
echo "${NETWORK}$(readlink /proc/self/ns/net)"
read -r own rest </proc/self/stat
[ "$own" = $$ ] && echo "${PROCESSES}$(readlink /proc/self/ns/pid)"`,
  allowed: [],
  judge: async (said) => {
    const isApart = async (kind: 'net' | 'pid', prefix: string) => {
      const own = await readlink(`/proc/self/ns/${kind}`);
      return said(prefix).some((name) => name.startsWith(`${kind}:`) && name !== own);
    };
    return {
      isApart: await isApart('net', NETWORK),
      sawProcesses: !(await isApart('pid', PROCESSES)),
      unbounded: [...unboundedLimits(said(LIMITS)), ...unboundedMemory(said(MOUNT), said(COUNT))],
    };
  },
};

function unboundedLimits([line = '']: readonly string[]): string[] {
  const [processes = '', data = ''] = line.split(' ');
  const { maxProcesses, maxDataKib } = SANDBOX_LIMITS;
  return [
    ...(Number(processes) <= maxProcesses ? [] : ['the number of processes']),
    ...(Number(data) <= maxDataKib ? [] : ['the memory of a process']),
  ];
}

/**
 * Returns the writable folders among the mounts in memory that have no size (lines of proc_pid_mountinfo(5)). `count`
 * counts all mounts in memory. A sandbox has several, so zero means that the script could not look.
 */
function unboundedMemory(unsized: readonly string[], [count = '0']: readonly string[]): string[] {
  if (!(Number(count) > 0)) return ['the memory behind folders'];
  return unsized.flatMap((line) => {
    const [, , , , place = '', options = ''] = line.split(' ');
    return options.split(',').includes('ro') ? [] : [place];
  });
}

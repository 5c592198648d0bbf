/**
 * The milliseconds of a processor that a synchronous computation takes. A bound on them finds an algorithm that grows too
 * fast, and holds on a busy machine too.
 */
export function cpuMsOf(compute: () => void): number {
  const before = process.cpuUsage();
  compute();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

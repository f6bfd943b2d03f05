/** Processor time that the work takes on this thread, in milliseconds; the best of three. What others do on the machine is not in it. */
export function cpuMs(work: () => unknown): number {
  const times = Array.from({ length: 3 }, () => {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

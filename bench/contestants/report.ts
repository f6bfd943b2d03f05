/** Processor time of this process so far, user and system, all threads. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** One finished piece of work, as the benchmark is reported. */
export interface Lap {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/** Runs the work and takes its time. */
export async function timed(work: () => Promise<void>): Promise<Lap> {
  const startMs = performance.now();
  const startCpuMs = cpuMs();
  await work();
  return { wallMs: performance.now() - startMs, cpuMs: cpuMs() - startCpuMs };
}

/** Tells the benchmark one line. */
export function say(message: string, facts: object = {}): void {
  process.stdout.write(`${JSON.stringify({ message, ...facts })}\n`);
}

/** Waits for the benchmark's next line; undefined at the end. */
export async function* orders(): AsyncIterable<string> {
  let rest = "";
  process.stdin.setEncoding("utf8");
  for await (const chunk of process.stdin) {
    rest += String(chunk);
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

/** Aborts on SIGTERM or SIGINT. A second request ends it immediately. */
export function terminationSignal(): AbortSignal {
  const stopping = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => {
      stopping.abort();
    });
  }
  return stopping.signal;
}

/** Resolves when the signal aborts. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<undefined>();
  signal.addEventListener(
    "abort",
    () => {
      resolve(undefined);
    },
    { once: true },
  );
  await promise;
}

// Those of controller-runtime and client-go, digit for digit: quantiles of existing dashboards depend on them. In seconds
// unless the name says otherwise.

/** Of a reconcile. */
export const reconcileBuckets: number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5,
  1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/** Of waiting and working in a queue: 12 steps, each ten times the one before, from 10 ns. */
export const queueBuckets: number[] = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1_000];

/** Of requests to the API server. */
export const requestBuckets: number[] = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/** Of their bodies, in bytes. */
export const sizeBytesBuckets: number[] = [
  64, 256, 512, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
];

/** Of webhook responses: Prometheus' defaults. */
export const webhookBuckets: number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

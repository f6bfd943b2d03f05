/** Annotations by which a user tells the operator something about a plan. Each value counts once; the status records it. */
export const planAnnotations = {
  /** Another attempt of a failed plan; `qm plan retry` sets it to the time. Recorded in `status.lastHandledRetry`. */
  retry: "install.quartermaster.dev/retry",
  /** Uid of a recreated service account that is to be trusted; `qm plan trust`. Becomes `status.serviceAccountUid`. */
  trust: "install.quartermaster.dev/trust",
  /** Uid of a plan that was restored together with its objects; `qm plan restore`. Recorded in `status.restored`. */
  restore: "install.quartermaster.dev/restore",
} as const;

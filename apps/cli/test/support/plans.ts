import type { InstallPlan } from "@quartermaster/api";

export type Status = NonNullable<InstallPlan["status"]>;

/** A plan with two stages, as the API server returns it. */
export function aPlan(status?: Status, spec: Partial<InstallPlan["spec"]> = {}): InstallPlan {
  const manifest = (apiVersion: string, kind: string, name: string): { readonly manifest: object } => ({
    manifest: { apiVersion, kind, metadata: { name } },
  });
  const stage = { wait: "Ready", timeoutSeconds: 600, concurrency: 1 } as const;
  return {
    apiVersion: "install.quartermaster.dev/v1alpha1",
    kind: "InstallPlan",
    metadata: { name: "web", namespace: "shop", generation: 1 },
    spec: {
      serviceAccountName: "installer",
      scope: "Namespace",
      approval: "Automatic",
      approved: false,
      paused: false,
      stages: [
        {
          ...stage,
          name: "config",
          resources: [manifest("v1", "ConfigMap", "settings"), manifest("v1", "Secret", "keys")],
        },
        { ...stage, name: "workloads", resources: [manifest("apps/v1", "Deployment", "web")] },
      ],
      lifecycle: {
        revert: "Owned",
        recreate: true,
        cleanup: "Delete",
        adoption: "Never",
        onImmutable: "Fail",
        disallowedManagers: [],
        protectData: true,
      },
      deletion: { timeoutSeconds: 0, onTimeout: "Wait", ifUnauthorized: "Block" },
      retry: { initialSeconds: 5, maxSeconds: 300, maxAttempts: 0 },
      historyLimit: 5,
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  } as InstallPlan;
}

/** A condition as written in a status. */
export function aCondition(
  type: string,
  status: "True" | "False",
  reason: string,
): NonNullable<Status["conditions"]>[number] {
  return { type, status, reason, message: `${reason} it is.`, lastTransitionTime: "2026-01-01T00:00:00Z" };
}

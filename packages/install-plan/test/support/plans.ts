import { installPlan, type InstallPlan } from "@quartermaster/api";

/** A plan as the server would return it, with every default. */
export function aPlan(
  name: string,
  {
    spec = {},
    status,
    metadata = {},
  }: { readonly spec?: object; readonly status?: object; readonly metadata?: object } = {},
): InstallPlan {
  const manifest = {
    apiVersion: "install.quartermaster.dev/v1alpha1",
    kind: "InstallPlan",
    metadata: {
      name,
      namespace: "ns",
      uid: `uid-${name}`,
      creationTimestamp: "2026-01-01T00:00:00Z",
      generation: 1,
      ...metadata,
    },
    spec: installPlan.request.spec.parse({
      serviceAccountName: "installer",
      stages: [{ name: "s", resources: [] }],
      ...spec,
    }),
    ...(status === undefined ? {} : { status }),
  };
  return manifest as unknown as InstallPlan;
}

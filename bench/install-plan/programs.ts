import { bundleEntry, type GoProgram } from "../programs.ts";

/** The peers that plans are measured against, besides kubectl. */
export const goPeers: readonly GoProgram[] = [
  { name: "helm", package: "helm.sh/helm/v4/cmd/helm" },
  { name: "kapp", package: "carvel.dev/kapp/cmd/kapp" },
];

/** The operator as one file. */
export async function bundleOperator(): Promise<string> {
  return await bundleEntry("operator", "../apps/operator/src/main.ts");
}

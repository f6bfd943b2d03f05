import { buildGoProgram, bundleProgram, type GoProgram } from "../programs.ts";

/** A peer that plans are measured against, besides kubectl. */
export interface GoPeer extends GoProgram {
  readonly name: "helm" | "kapp";
}

/** All of them. */
export const goPeers: readonly GoPeer[] = [
  { name: "helm", package: "helm.sh/helm/v4/cmd/helm" },
  { name: "kapp", package: "carvel.dev/kapp/cmd/kapp" },
];

/** Builds the peer and says where it is. */
export function buildPeer(peer: GoPeer): string {
  return buildGoProgram(peer);
}

/** The operator as one file. */
export async function bundleOperator(): Promise<string> {
  return await bundleProgram("operator", "../apps/operator/src/main.ts");
}

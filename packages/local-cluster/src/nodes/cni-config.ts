import type { NodePaths } from "./node-paths.ts";

/** The pod network of a node: a bridge whose address is the pods' way out, and addresses from the node's own range. */
export function desiredCniConfig(paths: NodePaths, subnet: string): Readonly<Record<string, unknown>> {
  return {
    cniVersion: "1.0.0",
    name: "pods",
    plugins: [
      {
        type: "bridge",
        bridge: "pods",
        isGateway: true,
        hairpinMode: true, // a pod reaches itself by way of its Service
        ipam: {
          type: "host-local",
          dataDir: paths.cniState,
          ranges: [[{ subnet }]],
          routes: [{ dst: "0.0.0.0/0" }],
        },
      },
    ],
  };
}

import type { GoModule } from "./go-module.ts";
import { minorOf } from "./versions.ts";

/** Arguments of `go build` for every program of a module, apart from output and package. They are part of the cache key. */
export function buildFlags(module: GoModule): readonly string[] {
  const stamps = module.project === "kubernetes" ? kubernetesStamps(module.version) : [];
  return ["-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", ["-s", "-w", ...stamps].join(" ")];
}

/** Environment of `go build`: no C compiler needed, no workspace or other target of the person's own in the way. */
export const BUILD_ENVIRONMENT: Readonly<Record<string, string>> = {
  CGO_ENABLED: "0",
  GOWORK: "off",
  GO111MODULE: "on",
};

/** Without these the programs call themselves v0.0.0-master. */
function kubernetesStamps(version: string): readonly string[] {
  const [major = "", minor = ""] = minorOf(version).split(".");
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: "clean" };
  return ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"].flatMap((goPackage) =>
    Object.entries(values).map(([name, value]) => `-X ${goPackage}.${name}=${value}`),
  );
}

import { compareDottedVersions } from "@quartermaster/runtime/versions";

/** A Deployment or DaemonSet of Quartermaster. */
export interface InstalledProgram {
  readonly kind: "Deployment" | "DaemonSet";
  readonly namespace: string;
  readonly name: string;
  readonly image: string;
  readonly ready: number;
  readonly wanted: number;
  /** Domains that it runs; undefined where it has none. */
  readonly domains: string | undefined;
}

/** What is installed, as far as the user may see it. */
export interface InstallationFacts {
  /** The release of `qm`. */
  readonly release: string;
  /** Releases of our definitions by name; undefined for one without a release. */
  readonly definitions: ReadonlyMap<string, string | undefined>;
  /** Namespaces of the operator that the definitions name. */
  readonly holders: readonly string[];
  /** Number of our policies that have no binding, and of all. */
  readonly policies: { readonly all: number; readonly unbound: readonly string[] };
  readonly programs: readonly InstalledProgram[];
  readonly hasShareDriver: boolean;
}

/** One line of the diagnosis, with what to do if it is a problem. */
export interface Finding {
  readonly isProblem: boolean;
  readonly text: string;
}

/** What is installed, and what keeps it from working. */
export function diagnosis(facts: InstallationFacts): readonly Finding[] {
  return [
    ...definitionFindings(facts),
    ...policyFindings(facts),
    ...programFindings(facts),
    ...driverFindings(facts),
  ];
}

const fine = (text: string): Finding => ({ isProblem: false, text });
const problem = (text: string): Finding => ({ isProblem: true, text });

function definitionFindings({ definitions, release, holders }: InstallationFacts): readonly Finding[] {
  if (definitions.size === 0)
    return [problem("no definitions are installed: helm install quartermaster, see docs/guides/install.md")];
  const older = [...definitions].filter(([name, version]) =>
    version === undefined ? !mayBeOthers(name) : compareDottedVersions(version, release) < 0,
  );
  const versions = [
    ...new Set([...definitions.values()].map((version) => version ?? "no release")),
  ].toSorted();
  const holder = holders.length === 0 ? "" : `, served by the operator in namespace ${holders.join(" and ")}`;
  return [
    fine(`${String(definitions.size)} definitions of release ${versions.join(", ")}${holder}`),
    ...(older.length === 0
      ? []
      : [
          problem(
            `older than qm ${release}: ${older
              .map(([name]) => name)
              .toSorted()
              .join(", ")}; upgrade the chart that brings the definitions`,
          ),
        ]),
  ];
}

/** Another operator of OpenSearch brings definitions of the same names, without a release of ours. */
function mayBeOthers(name: string): boolean {
  return name.startsWith("opensearchclusters.");
}

function policyFindings({ policies: { all, unbound } }: InstallationFacts): readonly Finding[] {
  if (all === 0)
    return [
      problem(
        "no admission policies: tenants can forge authors and statuses; run helm upgrade with api.policies.enabled=true",
      ),
    ];
  if (unbound.length > 0)
    return [
      problem(
        `policies without a binding have no effect: ${unbound.toSorted().join(", ")}; install the chart again`,
      ),
    ];
  return [fine(`${String(all)} admission policies`)];
}

function programFindings({ programs }: InstallationFacts): readonly Finding[] {
  const operators = programs.filter(({ name }) => name === "quartermaster-operator");
  const missing =
    operators.length > 0 ? [] : [problem("no operator is installed: nothing happens to your objects")];
  return [
    ...missing,
    ...programs.flatMap(({ kind, namespace, name, image, ready, wanted, domains }) => {
      const what = `${kind} ${namespace}/${name}: ${String(ready)} of ${String(wanted)} ready, image ${image}`;
      const text = domains === undefined ? what : `${what}, domains ${domains === "" ? "none" : domains}`;
      if (ready >= wanted && wanted > 0) return [fine(text)];
      const hint = `its log says why: kubectl -n ${namespace} logs ${kind.toLowerCase()}/${name} --all-pods --tail=20`;
      return [problem(`${text}; ${wanted === 0 ? "it runs nothing" : hint}`)];
    }),
  ];
}

function driverFindings({ programs, hasShareDriver }: InstallationFacts): readonly Finding[] {
  const needsIt = programs.some(({ domains = "" }) => domains.split(",").includes("subscription"));
  if (!needsIt || hasShareDriver) return [];
  return [
    problem(
      "no CSI driver for Shares: pods cannot mount ClusterBundles; run helm upgrade with shareDriver.enabled=true",
    ),
  ];
}

/** One package, and the packages that its files may import besides their own. */
export interface PackageRule {
  readonly directory: string;
  readonly mayImport: readonly string[];
  /** Doors besides the package's own name, e.g. `schema` for `@quartermaster/runtime/schema`. */
  readonly entries?: readonly string[];
}

const domains = ["install-plan", "subscription", "licensing", "search"];
const foundation = ["api", "runtime"];
/** What a domain may build upon. */
const belowDomains = [...foundation, "health"];

/**
 * The dependency rule as data. A package is called `@quartermaster/<last part of its directory>`.
 * A new package needs a row here: files in a directory without a row fail the lint.
 */
export const packages: readonly PackageRule[] = [
  {
    directory: "packages/runtime",
    mayImport: [],
    entries: ["certificates", "kinds", "schema", "testing", "versions"],
  },
  { directory: "packages/api", mayImport: ["runtime"], entries: ["generate", "licensing", "release"] },
  { directory: "packages/health", mayImport: ["runtime"] },
  { directory: "packages/install-plan", mayImport: belowDomains, entries: ["offline"] },
  { directory: "packages/subscription", mayImport: belowDomains },
  { directory: "packages/license-selection", mayImport: foundation },
  { directory: "packages/licensing", mayImport: [...belowDomains, "license-selection"] },
  {
    directory: "packages/search",
    mayImport: [...belowDomains, "license-selection"],
    entries: ["exporter", "offline", "testing"],
  },
  { directory: "packages/local-cluster", mayImport: ["runtime"], entries: ["engines"] },
  {
    directory: "packages/testkit",
    mayImport: ["local-cluster", ...foundation, "tools"],
    entries: ["real-nodes", "shared-cluster"],
  },
  { directory: "apps/operator", mayImport: [...domains, ...foundation] },
  { directory: "apps/cli", mayImport: [...domains, ...belowDomains, "license-selection"] },
  { directory: "apps/share-driver", mayImport: foundation },
  { directory: "apps/search-exporter", mayImport: ["search", "runtime"] },
  { directory: "apps/console", mayImport: [...domains, ...foundation] },
  {
    directory: "bench",
    mayImport: [...domains, ...foundation, "license-selection", "local-cluster", "testkit", "tools"],
  },
  { directory: "deploy", mayImport: ["api", "local-cluster", "tools"] },
  { directory: "examples", mayImport: ["runtime"] },
  // Before `tools`: the first row whose directory holds a file counts.
  { directory: "tools/up", mayImport: ["local-cluster", "search"] },
  { directory: "tools", mayImport: [], entries: ["bundle", "go-program"] },
];

export const testsMayImport: readonly string[] = ["testkit"];

/** One package, and the packages that its files may import besides their own. */
export interface PackageRule {
  readonly folder: string;
  readonly mayImport: readonly string[];
  /** Doors besides the package's own name, e.g. `schema` for `@quartermaster/runtime/schema`. */
  readonly entries?: readonly string[];
}

const domains = ["install-plan", "subscription", "licensing", "search"];
const foundation = ["api", "runtime"];
/** What a domain may build upon. */
const belowDomains = [...foundation, "health"];

/**
 * The dependency rule as data. A package is called `@quartermaster/<last part of its folder>`.
 * A new package needs a row here: files in a folder without a row fail the lint.
 */
export const packages: readonly PackageRule[] = [
  {
    folder: "packages/runtime",
    mayImport: [],
    entries: ["certificates", "kinds", "schema", "testing", "versions"],
  },
  { folder: "packages/api", mayImport: ["runtime"], entries: ["generate", "licensing"] },
  { folder: "packages/health", mayImport: ["runtime"] },
  { folder: "packages/install-plan", mayImport: belowDomains, entries: ["offline"] },
  { folder: "packages/subscription", mayImport: belowDomains },
  { folder: "packages/license-selection", mayImport: foundation },
  { folder: "packages/licensing", mayImport: [...belowDomains, "license-selection"] },
  {
    folder: "packages/search",
    mayImport: [...belowDomains, "license-selection"],
    entries: ["exporter", "offline", "testing"],
  },
  { folder: "packages/local-cluster", mayImport: ["runtime"], entries: ["engines"] },
  {
    folder: "packages/testkit",
    mayImport: ["local-cluster", ...foundation, "tools"],
    entries: ["real-nodes", "shared-cluster"],
  },
  { folder: "apps/operator", mayImport: [...domains, ...foundation] },
  { folder: "apps/cli", mayImport: [...domains, ...belowDomains, "license-selection"] },
  { folder: "apps/share-driver", mayImport: foundation },
  { folder: "apps/search-exporter", mayImport: ["search", "runtime"] },
  { folder: "apps/console", mayImport: [...domains, ...foundation] },
  {
    folder: "bench",
    mayImport: [...domains, ...foundation, "license-selection", "local-cluster", "testkit", "tools"],
  },
  { folder: "deploy", mayImport: ["local-cluster", "tools"] },
  { folder: "examples", mayImport: ["runtime"] },
  // Before `tools`: the first row whose folder holds a file counts.
  { folder: "tools/up", mayImport: ["local-cluster", "search"] },
  { folder: "tools", mayImport: [], entries: ["bundle"] },
];

/** What every file below `<package>/test` may import in addition. */
export const testsMayImport: readonly string[] = ["testkit"];

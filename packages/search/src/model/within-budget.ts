import type { SearchCluster, SpecIssue } from "./search-cluster.ts";

/**
 * Most characters of settings in one cluster: `additionalConfig` of all pools, of each pool and of Dashboards together. They are YAML, and
 * reading it takes a tenth of a second at this size, six tenths where it is made to be slow.
 */
const mostSettings = 64 * 1024;

const tooLarge: SpecIssue = {
  path: "spec.general.additionalConfig",
  reason: "InvalidSpec",
  message:
    "and additionalConfig of pools and Dashboards are larger than 64 KiB together and are not read: remove settings, or put files into additionalVolumes",
};

/** The cluster, without settings where there are too many to be read, and what is wrong then. */
export function withinBudget(cluster: SearchCluster): {
  readonly cluster: SearchCluster;
  readonly issues: readonly SpecIssue[];
} {
  const { config, pools, dashboards } = cluster;
  const configs = [config, ...pools.map((pool) => pool.config), ...(dashboards ? [dashboards.config] : [])];
  if (configs.reduce((sum, each) => sum + sizeOf(each), 0) <= mostSettings) return { cluster, issues: [] };
  const without: SearchCluster = {
    ...cluster,
    config: {},
    pools: pools.map((pool) => ({ ...pool, config: {} })),
    dashboards: dashboards && { ...dashboards, config: {} },
  };
  return { cluster: without, issues: [tooLarge] };
}

function sizeOf(config: SearchCluster["config"]): number {
  return Object.entries(config).reduce((sum, [key, text]) => sum + key.length + text.length, 0);
}

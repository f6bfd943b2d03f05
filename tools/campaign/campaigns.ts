/** Tests that `make test` runs in a short form, with the same assertions, at full length. */
export interface Campaign {
  readonly name: string;
  /** What full length means. */
  readonly what: string;
  /** Name of the test file, without its ending. */
  readonly file: string;
  /** Level of the test (default: integration). */
  readonly level?: "unit" | "integration" | "e2e";
  /** Which tests of the file: a part of their names. */
  readonly cases: string;
}

/** Set to `1` for a campaign; tests request it where their counts are. */
export const campaignVariable = "QM_CAMPAIGN";

/** Every campaign, short ones first. */
export const campaigns: readonly Campaign[] = [
  {
    name: "random-operations",
    what: "a store follows 60 s of random writes",
    file: "store-random-operations",
    cases: "RT-32",
  },
  { name: "build", what: "every binary of a control plane is built", file: "cluster-build", cases: "LC-01" },
  { name: "events", what: "a controller takes 50,000 live events", file: "controller-load", cases: "RT-08" },
  { name: "watches", what: "watches break three times over", file: "plan-faults", cases: "install-plan/120" },
  {
    name: "server-away",
    what: "the API server is away for five minutes",
    file: "plan-server-restart",
    cases: "faults/3",
  },
  {
    name: "bystanders",
    what: "a neighbor's plan, bundle and search cluster are served within 5 s beside every cost attack",
    file: "bystanders",
    cases: "security/",
  },
  { name: "crowd", what: "10,000 simulated pods", file: "cluster-crowd", cases: "LC-14" },
  {
    name: "crashes",
    what: "every kind of crash at every write of an install",
    file: "plan-crash",
    cases: "install-plan/117",
  },
  {
    name: "faults-plan",
    what: "every fault at every write of a plan's life, and each of its preconditions taken away",
    file: "plan-fault-walk",
    cases: "",
  },
  {
    name: "faults-license",
    what: "every fault at every write of a license's binding, and each of its preconditions taken away",
    file: "license-fault-walk",
    cases: "",
  },
  {
    name: "faults-runtime",
    what: "every fault at every write of issued certificates and of their bundle",
    file: "certificates-fault-walk",
    cases: "",
  },
  {
    name: "faults-bundle",
    what: "every fault at every write of a Bundle's and a ClusterBundle's life, and each of its preconditions taken away",
    file: "bundle-fault-walk",
    cases: "",
  },
  {
    name: "bundles",
    what: "metallb, Argo CD and kube-prometheus are installed, repaired, handed over and deleted (where the fixtures are)",
    file: "plan-bundles",
    cases: "",
  },
  {
    name: "search-crashes",
    what: "every kind of crash at every write of a search cluster's creation, roll, removal and deletion",
    file: "search-crash",
    cases: "killed at every write",
  },
  {
    name: "faults-search",
    what: "every fault at every write of a search cluster's life, and of managers that leave",
    file: "search-fault-walk",
    cases: "faults at writes",
  },
  {
    name: "faults-search-engine",
    what: "every fault of calls, facts and nodes at every write to an engine",
    file: "search-engine-walk",
    cases: "faults/P",
  },
  {
    name: "license-counts",
    what: "1,000 random operations on clusters of a pool",
    file: "pool-random",
    cases: "faults/45",
  },
  {
    name: "injection-load",
    what: "100 pods a second through the webhook for 10 minutes",
    file: "injection-load",
    cases: "AC-G1",
  },
  {
    name: "search-crowd",
    what: "200 search clusters that are as declared, for 10 minutes",
    file: "search-settled",
    cases: "SC-109",
  },
  {
    name: "search-rendering",
    what: "an operator with another rendering finds 200 search clusters and deletes no pod",
    file: "search-operation-faults",
    cases: "SC-53",
  },
  {
    name: "license-crowd",
    what: "a license is added to 500 clusters",
    file: "many-clusters",
    cases: "licensing/R2",
  },
  {
    name: "license-crashes",
    what: "every kind of crash at every write of the license controllers",
    file: "license-crash",
    cases: "killed at writes, every fourth",
  },
  {
    name: "volumes",
    what: "200 pods with volumes of the share driver come and go",
    file: "share-driver",
    level: "e2e",
    cases: "AC-H8",
  },
  {
    name: "elasticsearch-pod",
    what: "Elasticsearch 8.19 as a pod",
    file: "elasticsearch-pod",
    level: "e2e",
    cases: "as a pod",
  },
  {
    name: "operations",
    what: "three managers and three data nodes roll, grow and shrink under load, the operator killed at every write of the roll and of the removal",
    file: "search-cluster",
    level: "e2e",
    cases: "",
  },
  {
    name: "autoscaling",
    what: "a pool grows under load, and shrinks when the load has gone",
    file: "autoscaling-load",
    level: "e2e",
    cases: "",
  },
  {
    name: "operations-of-managers",
    what: "three managers become one and two, two managers roll, a node is killed while it is emptied; under load, the operator killed at every write of the votes",
    file: "search-operations",
    level: "e2e",
    cases: "",
  },
  {
    name: "monitoring-stack",
    what: "Prometheus and Alertmanager as pods: TLS, every dashboard query, an alert that fires and is resolved",
    file: "monitoring-stack",
    level: "e2e",
    cases: "",
  },
  {
    name: "make-up-monitoring",
    what: "`make up WITH=search,monitoring` and the page that it offers",
    file: "make-up-search",
    level: "e2e",
    cases: "monitored",
  },
  {
    name: "operation-model",
    what: "the model of restart and removal, depth 14, three disturbances",
    file: "operation-model",
    level: "unit",
    cases: "SC-108",
  },
  {
    name: "engine-pods",
    what: "three managers and three data nodes of OpenSearch as pods",
    file: "opensearch-pods",
    level: "e2e",
    cases: "as pods",
  },
];

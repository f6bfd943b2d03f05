/** Tests that `make test` runs in a short form, with the same assertions, at full length. */
export interface Campaign {
  readonly name: string;
  /** What full length means. */
  readonly what: string;
  /** Name of the test file, without its ending. */
  readonly file: string;
  /** Level of the test (default: integration). */
  readonly level?: "integration" | "e2e";
  /** Which tests of the file: a part of their names. */
  readonly cases: string;
}

/** Set to `1` for a campaign; tests ask for it where their counts are. */
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
  { name: "crowd", what: "10,000 simulated pods", file: "cluster-crowd", cases: "LC-14" },
  {
    name: "crashes",
    what: "every kind of crash at every write of an install",
    file: "plan-crash",
    cases: "install-plan/117",
  },
  {
    name: "volumes",
    what: "200 pods with volumes of the share driver come and go",
    file: "share-driver",
    level: "e2e",
    cases: "AC-H8",
  },
];

import { join } from "node:path";

import { repository } from "../repository.ts";

/** A search cluster that `make up` can make. */
export interface SearchSample {
  readonly file: string;
  readonly namespace: string;
  readonly name: string;
  /** As `kubectl get` names its kind; with its group where another has a kind of the same name. */
  readonly resource: string;
  readonly engine: "opensearch" | "elasticsearch";
  readonly version: string;
}

/** By the word that `WITH=` takes. */
export const searchSamples: ReadonlyMap<string, SearchSample> = new Map<string, SearchSample>([
  [
    "search",
    {
      file: join(repository, "config/samples/opensearch.yaml"),
      namespace: "search",
      name: "logs",
      resource: "opensearchclusters.opensearch.org",
      engine: "opensearch",
      version: "2.19.4",
    },
  ],
  [
    "elasticsearch",
    {
      file: join(repository, "config/samples/elasticsearch-trial.yaml"),
      namespace: "search",
      name: "docs",
      resource: "elasticsearchcluster",
      engine: "elasticsearch",
      version: "7.17.28",
    },
  ],
]);

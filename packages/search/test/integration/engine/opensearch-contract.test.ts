import { opensearchContract } from "../../support/opensearch-contract.ts";
import { startOpensearchScene } from "../../support/opensearch-scene.ts";

opensearchContract("the REST client on OpenSearch 2.19.4", startOpensearchScene);

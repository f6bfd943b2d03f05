import { opensearchContract } from "../../support/opensearch-contract.ts";
import { startOpensearchWorld } from "../../support/opensearch-world.ts";

opensearchContract("the REST client on OpenSearch 2.19.4", startOpensearchWorld);

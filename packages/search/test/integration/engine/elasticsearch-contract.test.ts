import { startElasticsearchScene } from "../../support/elasticsearch-scene.ts";
import { licenseContract } from "../../support/license-contract.ts";

licenseContract("the REST client on Elasticsearch 7.17.28", startElasticsearchScene);

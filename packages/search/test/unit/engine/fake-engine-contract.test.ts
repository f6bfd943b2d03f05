import { startFakeWorld } from "../../support/fake-world.ts";
import { opensearchContract } from "../../support/opensearch-contract.ts";

opensearchContract("the fake engine", async () => await startFakeWorld());

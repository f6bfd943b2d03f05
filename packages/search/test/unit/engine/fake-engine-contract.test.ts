import { startFakeScene } from "../../support/fake-scene.ts";
import { opensearchContract } from "../../support/opensearch-contract.ts";

opensearchContract("the fake engine", async () => await startFakeScene());

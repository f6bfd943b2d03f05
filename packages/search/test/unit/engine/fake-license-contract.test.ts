import { startFakeScene } from "../../support/fake-scene.ts";
import { licenseContract } from "../../support/license-contract.ts";

licenseContract("the fake engine", async () => await startFakeScene("elasticsearch"));

import { startFakeWorld } from "../../support/fake-world.ts";
import { licenseContract } from "../../support/license-contract.ts";

licenseContract("the fake engine", async () => await startFakeWorld("elasticsearch"));

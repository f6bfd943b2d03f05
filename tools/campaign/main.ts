/** Runs the long tests at full length, one after the other. `--only=<parts of names, with commas>` runs some of them. */
import { parseArgs } from "node:util";

import { campaignTable } from "./campaign-table.ts";
import { campaigns } from "./campaigns.ts";
import { faultTable, readFaultResults } from "./fault-table.ts";
import { type CampaignResult, runCampaign } from "./run-campaign.ts";

const { values } = parseArgs({ options: { only: { type: "string", default: "" } } });
const chosen = campaigns.filter(({ name }) => values.only.split(",").some((part) => name.includes(part)));
const results: CampaignResult[] = [];
for (const campaign of chosen) results.push(await runCampaign(campaign));
if (chosen.some(({ name }) => name.startsWith("faults-")))
  console.log(faultTable(readFaultResults(".reports/faults")).join("\n"));
console.log(campaignTable(results).join("\n"));
process.exitCode = results.length > 0 && results.every(({ failures }) => failures.length === 0) ? 0 : 1;

import type { CampaignResult } from "./run-campaign.ts";

/** The last lines of a run: a table of all campaigns, then what failed. */
export function campaignTable(results: readonly CampaignResult[]): readonly string[] {
  const row = ({ campaign, passed, failures, tookMs }: CampaignResult): string =>
    [
      campaign.name.padEnd(18),
      `${Math.round(tookMs / 1000)} s`.padStart(7),
      (failures.length === 0 ? `${passed} passed` : `${failures.length} FAILED`).padStart(9),
      campaign.what,
    ].join("  ");
  const failures = results.flatMap((result) =>
    result.failures.map((failure) => `${result.campaign.name}: ${failure}`),
  );
  const failed = results.filter((result) => result.failures.length > 0).length;
  return [...results.map(row), ...failures, `${results.length - failed} campaigns passed, ${failed} failed`];
}

import { allocationsOf, capacityOf, explainLicenses, storesOf, sumNeeds } from "@quartermaster/licensing";

import { type LicenseView, licenseOptions, viewLicenses } from "../cluster/view-licenses.ts";
import type { Command } from "../command.ts";
import { exitCode } from "../errors.ts";
import { print } from "../output/print.ts";
import { table } from "../render/table.ts";

/** Shows the pool: what expires when, what is used, and who has nothing. */
export const licenseStatusCommand: Command = {
  name: "license status",
  summary: "show the pool: expiry calendar, capacity, and clusters without a license",
  operands: "",
  options: licenseOptions,
  run: async (invocation, context) => {
    const view = await viewLicenses(invocation, context);
    const data = statusOf(view);
    print(context.terminal, invocation.format, { data, text: textOf(data) });
    return data.unmatched.length === 0 ? exitCode.ok : exitCode.notReady;
  },
};

interface PoolStatus {
  readonly licenses: readonly {
    readonly name: string;
    readonly used: number;
    readonly limit: number;
    readonly problem: string;
  }[];
  readonly calendar: readonly { readonly name: string; readonly type: string; readonly days: number }[];
  readonly unmatched: readonly { readonly cluster: string; readonly reason: string }[];
}

const dayMs = 86_400_000;

function statusOf({ state, settings, nowMs }: LicenseView): PoolStatus {
  const stores = storesOf(state, settings);
  const daysLeft = (expiryMs: number): number => Math.floor((expiryMs - nowMs) / dayMs);
  return {
    licenses: stores.pool.licenses.map(({ license, problem }) => {
      const { used, limit } = capacityOf(
        license,
        sumNeeds(allocationsOf(stores, license).map(({ need }) => need)),
      );
      return { name: license.metadata.name, used, limit, problem: problem?.reason ?? "" };
    }),
    calendar: stores.pool.licenses
      .flatMap(({ license, expiryMs, nested }) => [
        { name: license.metadata.name, type: license.spec.type, days: daysLeft(expiryMs) },
        ...nested.map(({ candidate }) => ({
          name: `${license.metadata.name}/${candidate.uid}`,
          type: candidate.type,
          days: daysLeft(candidate.expiryMs),
        })),
      ])
      .toSorted((one, other) => one.days - other.days),
    unmatched: explainLicenses(state, nowMs, settings).flatMap(
      ({ cluster: { metadata, status }, binding }) => {
        const isMatched =
          binding.target.kind !== "keep" ||
          (status?.license?.uid !== undefined && status.license.type !== "basic");
        return isMatched
          ? []
          : [{ cluster: `${metadata.namespace}/${metadata.name}`, reason: binding.selection.reason }];
      },
    ),
  };
}

function textOf({ licenses, calendar, unmatched }: PoolStatus): string {
  const pool = licenses.map(({ name, used, limit, problem }) => [
    name,
    `${String(used)}/${String(limit)}`,
    bar(used, limit),
    problem,
  ]);
  const dates = calendar.map(({ name, type, days }) => [
    name,
    type,
    daysText(days),
    bar(Math.min(Math.max(days, 0), 365), 365),
  ]);
  return [
    "POOL",
    pool.length === 0 ? "no licenses" : table(pool),
    "",
    "EXPIRY (a full bar is a year)",
    dates.length === 0 ? "nothing expires" : table(dates),
    "",
    "CLUSTERS WITHOUT A LICENSE",
    unmatched.length === 0 ? "none" : table(unmatched.map(({ cluster, reason }) => [cluster, reason])),
  ].join("\n");
}

function daysText(days: number): string {
  return days < 0 ? "expired" : `${String(days)} d`;
}

const barWidth = 24;

function bar(value: number, whole: number): string {
  const filled = whole === 0 ? 0 : Math.min(barWidth, Math.round((value / whole) * barWidth));
  return `${"#".repeat(filled)}${".".repeat(barWidth - filled)}`;
}

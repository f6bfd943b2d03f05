import { dayMs, licenseParameters, sleepUntil } from "@quartermaster/license-selection";
import { expect, test } from "vitest";

import { expiryReport, licenseState } from "../../src/expiry/license-state.ts";

const startMs = Date.UTC(2025, 0, 1);
const times = { startMs, expiryMs: startMs + 365 * dayMs };

test.each([
  {
    name: "[licensing/S13] before it begins",
    atMs: startMs - 10 * dayMs,
    want: { state: "Scheduled", nextMs: startMs },
  },
  { name: "when it begins", atMs: startMs, want: { state: "Valid", nextMs: startMs + 335 * dayMs } },
  {
    name: "30 days before its end",
    atMs: startMs + 335 * dayMs,
    want: { state: "ExpiringSoon", warnedDays: 30 },
  },
  {
    name: "a week before its end",
    atMs: startMs + 358 * dayMs,
    want: { state: "ExpiringSoon", warnedDays: 7 },
  },
  { name: "[licensing/S14] at its end", atMs: times.expiryMs, want: { state: "Expired" } },
])("$name: how a license stands", ({ atMs, want }) => {
  expect(licenseState(times, atMs, licenseParameters)).toMatchObject(want);
});

test("[licensing/X2] a year passes with restarts: one event at 30, 14, 7 and 1 days and at the end, each at its moment", () => {
  const seen: { readonly days: number; readonly reason: string }[] = [];
  let conditions: readonly { readonly type: string; readonly message: string }[] = [];
  let nowMs = startMs;
  let rounds = 0;
  while (nowMs < times.expiryMs + dayMs) {
    const now = licenseState(times, nowMs, licenseParameters);
    // Asked twice: the second time stands for a restart, which knows nothing but the status.
    for (const _ of [1, 2]) {
      const report = expiryReport(now, times.expiryMs, conditions);
      for (const { reason } of report.events) seen.push({ days: (times.expiryMs - nowMs) / dayMs, reason });
      conditions = [report.condition];
    }
    rounds += 1;
    nowMs += sleepUntil(now.nextMs, nowMs);
  }
  expect(seen).toEqual([
    { days: 30, reason: "LicenseExpiring" },
    { days: 14, reason: "LicenseExpiring" },
    { days: 7, reason: "LicenseExpiring" },
    { days: 1, reason: "LicenseExpiring" },
    { days: 0, reason: "LicenseExpired" },
  ]);
  expect(rounds).toBeLessThan(1000);
});

test("[licensing/X5] a moment 40 days away never becomes a timer that fires immediately", () => {
  const sleepMs = sleepUntil(startMs + 40 * dayMs, startMs);
  expect(sleepMs).toBe(10 * 3_600_000);
  expect(sleepMs).toBeLessThan(2 ** 31);
});

test("in the last days nothing is looked at more often than once a minute", () => {
  const { nextMs } = licenseState(times, times.expiryMs - 1, licenseParameters);
  expect(sleepUntil(nextMs, times.expiryMs - 1)).toBe(60_000);
});

import { gzipSync } from "node:zlib";

import { leases } from "@quartermaster/runtime/kinds";
import { aConfigMap, eventually, startOperator } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { configMap } from "../support/manifests.ts";
import { reference, store } from "../support/stored.ts";
import { setUpWorkbench } from "../support/workbench.ts";

const bomb = Array.from({ length: 9 }, (_, level) => {
  const previous = level === 0 ? '"x"' : `*a${level - 1}`;
  return `a${level}: &a${level} [${Array.from({ length: 9 }, () => previous).join(",")}]`;
}).join("\n");

/** Each of them would take a careless parser seconds to minutes. */
const hostile: readonly string[] = [
  bomb,
  `a: ${"[".repeat(10_000)}${"]".repeat(10_000)}`,
  `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`,
  Array.from({ length: 2_000 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n"),
  `a: ${"9".repeat(1_000_000)}`,
];

test(
  "[faults/15] hostile YAML of 40 plans costs the operator no leadership, and another plan is installed meanwhile",
  { timeout: 180_000 },
  async () => {
    await using bench = await setUpWorkbench({ isOperating: false });
    const { client, namespace } = bench;
    const flags = [
      "--domains=install-plan",
      `--watch-namespace=${namespace}`,
      `--lease-namespace=${namespace}`,
    ];
    await using operator = await startOperator(bench.operatorAccess, flags);
    const term = async (): Promise<unknown> => {
      const { items } = await client.listPage(leases, { namespace });
      return items.map(({ spec }) => [spec?.holderIdentity, spec?.leaseTransitions, spec?.acquireTime]);
    };
    await eventually((see) => see(operator.output).includes("operator started"));
    const begin = await eventually(
      async () => ((await term()) as readonly unknown[]).length > 0 && (await term()),
    );
    const names = Array.from({ length: 40 }, (_, at) => `h${at}`);
    await Promise.all(
      names.map(async (name, at) => {
        const object = aConfigMap({ name });
        await store(bench, object, {
          data: gzipSync(hostile[at % hostile.length] ?? "").toString("base64"),
        });
        await bench.create(bench.plan(name, [{ name: "s", resources: [reference(object)] }]));
      }),
    );
    await bench.create(bench.plan("calm", [{ name: "s", resources: [configMap("calm")] }]));
    await bench.installed("calm", 120_000);
    for (const name of names) await bench.inPhase(name, "Invalid");
    expect(await term()).toEqual(begin);
    expect(operator.exitCode).toBeUndefined();
    expect(operator.output).not.toContain("lease is no longer held");
  },
);

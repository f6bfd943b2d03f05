import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { eventually, WRITING_VERBS } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { aWidget } from "../support/widgets.ts";
import { setUpWorkbench } from "../support/workbench.ts";

const program = fileURLToPath(new URL("../support/load-operator.ts", import.meta.url));

describe("[runtime/RT-27] SIGTERM under load", () => {
  test.each([
    { mode: "plain", withinMs: 5_000 },
    { mode: "stubborn", withinMs: 10_000 },
  ])(
    "ends passes ($mode), writes nothing after the announcement, exits with 0",
    async ({ mode, withinMs }) => {
      await using bench = await setUpWorkbench();
      const { client, namespace, widgets } = bench;
      for (let at = 0; at < 200; at += 1)
        await client.create(widgets, aWidget(widgets, { name: `w-${at}`, namespace }));
      const position = await bench.audit.position();
      const args = [program, bench.kubeconfigPath, namespace, JSON.stringify(widgets), mode];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      let output = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
      const writes = async (): Promise<number> => {
        const entries = await bench.audit.since(position, { namespace, verbs: WRITING_VERBS });
        return entries.filter(({ userAgent }) => userAgent === `load-${namespace}`).length;
      };
      await eventually(async (see) => see(await writes()) > 20);
      const startMs = performance.now();
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await eventually(() => output.includes("stopped"), { everyMs: 10 });
      const announcedAfterMs = performance.now() - startMs;
      const announced = await writes();
      expect(await exited).toEqual([0, null]);
      expect(await writes()).toBe(announced);
      expect(announced).toBeLessThan(600);
      expect(announcedAfterMs).toBeLessThan(withinMs);
    },
  );
});

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { readSettings, SettingsError } from "../../src/settings.ts";

const page = readFileSync(join(import.meta.dirname, "../../../../docs/reference/share-driver.md"), "utf8");

describe("settings", () => {
  test("have defaults for all but the node's name", () => {
    expect(readSettings([], { QM_NODE_NAME: "node-1" })).toEqual({
      nodeName: "node-1",
      kubeletDirectory: "/var/lib/kubelet",
      metricsPort: 8080,
      logLevel: "info",
    });
  });

  test("are taken from flags before the environment", () => {
    const args = [
      "--node-name=a",
      "--kubelet-dir=/k",
      "--metrics-port=0",
      "--log-level=debug",
      "--kubeconfig=/c",
    ];
    const env = { QM_NODE_NAME: "b", QM_KUBELET_DIR: "/other", QM_METRICS_PORT: "1", QM_LOG_LEVEL: "warn" };
    expect(readSettings(args, env)).toEqual({
      nodeName: "a",
      kubeletDirectory: "/k",
      metricsPort: 0,
      logLevel: "debug",
      kubeconfigPath: "/c",
    });
  });

  test.each([
    { name: "no node", args: [], says: "--node-name" },
    { name: "an unknown flag", args: ["--node-name=a", "--nodename=b"], says: "nodename" },
    { name: "a port that is none", args: ["--node-name=a", "--metrics-port=x"], says: "--metrics-port" },
    { name: "a level that is none", args: ["--node-name=a", "--log-level=all"], says: "--log-level" },
    { name: "a relative directory", args: ["--node-name=a", "--kubelet-dir=kubelet"], says: "--kubelet-dir" },
    {
      name: "a directory with a slash at its end",
      args: ["--node-name=a", "--kubelet-dir=/k/"],
      says: "--kubelet-dir",
    },
  ])("are refused: $name", ({ args, says }) => {
    expect(() => readSettings(args, {})).toThrow(SettingsError);
    expect(() => readSettings(args, {})).toThrow(says);
  });

  test.each(["node-name", "kubelet-dir", "metrics-port", "log-level", "kubeconfig"])(
    "the page explains --%s",
    (flag) => {
      expect(page).toContain(`\`--${flag}\``);
    },
  );
});

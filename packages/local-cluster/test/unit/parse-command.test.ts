import { describe, expect, test } from "vitest";

import { parseCommand } from "../../src/command/parse-command.ts";
import { LocalClusterError } from "../../src/errors.ts";

const up = {
  name: "quartermaster",
  profile: "auto",
  nodeCount: 1,
  kubernetesVersion: undefined,
  port: undefined,
  apply: [],
  images: [],
};

describe("the command line", () => {
  test.each([
    { name: "nothing", argv: [], want: { kind: "help" } },
    { name: "up", argv: ["up"], want: { kind: "up", options: up } },
    {
      name: "up with every flag",
      argv: [
        "up",
        "--name",
        "mine",
        "--profile",
        "nodes",
        "--nodes",
        "3",
        "--kubernetes",
        "1.35",
        "--port",
        "6443",
        "--apply",
        "a.yaml",
        "--apply",
        "b.yaml",
        "--image",
        "/images/a",
      ],
      want: {
        kind: "up",
        options: {
          name: "mine",
          profile: "nodes",
          nodeCount: 3,
          kubernetesVersion: "1.35",
          port: 6443,
          apply: ["a.yaml", "b.yaml"],
          images: ["/images/a"],
        },
      },
    },
    { name: "down", argv: ["down", "--name", "mine"], want: { kind: "down", name: "mine" } },
    { name: "a plea for help", argv: ["up", "-h"], want: { kind: "help" } },
  ])("understands $name", ({ argv, want }) => {
    expect(parseCommand(argv)).toEqual(want);
  });

  test.each([
    { name: "an unknown command", argv: ["start"], names: "start" },
    { name: "an unknown flag", argv: ["up", "--node", "3"], names: "--node" },
    { name: "too many nodes", argv: ["up", "--nodes", "10"], names: "--nodes 10" },
    { name: "a port that is none", argv: ["up", "--port", "http"], names: "--port http" },
    { name: "a name that leaves its directory", argv: ["down", "--name", "../other"], names: "../other" },
    { name: "a profile that is none", argv: ["up", "--profile", "kind"], names: "--profile kind" },
    { name: "two commands", argv: ["up", "down"], names: "down" },
  ])("refuses $name, names it and says where to look", ({ argv, names }) => {
    const refusal = catchError(() => parseCommand(argv));
    expect(refusal).toMatchObject({ code: "BadUsage" });
    expect(refusal.message).toContain(names);
    expect(refusal.message).toContain("local-cluster help");
  });
});

function catchError(act: () => unknown): LocalClusterError {
  try {
    act();
  } catch (error) {
    if (error instanceof LocalClusterError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

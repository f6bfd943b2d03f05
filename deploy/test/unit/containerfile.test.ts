import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { operatorEntrypoint, operatorUser } from "../../image/operator-files.ts";
import { operatorImage } from "../../image/operator-image.ts";

const deploy = join(import.meta.dirname, "../..");
const containerfile = readFileSync(join(deploy, "image/Containerfile"), "utf8");

function lineOf(word: string): string | undefined {
  return new RegExp(`^${word} (.*)$`, "m").exec(containerfile)?.[1];
}

test("an engine makes the same image as we do", () => {
  expect(JSON.parse(lineOf("ENTRYPOINT") ?? "")).toEqual(operatorEntrypoint);
  expect(lineOf("USER")).toBe(operatorUser);
  expect(lineOf("COPY")).toBe(". .");
  expect(containerfile).toContain("main.ts --files /image");
  expect(containerfile).toContain("COPY --from=build /image/ /");
});

test("what is deployed is what is built", () => {
  expect(readFileSync(join(deploy, "operator.yaml"), "utf8")).toContain(`image: ${operatorImage}\n`);
  expect(containerfile).toContain(`-t ${operatorImage} `);
});

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";

import { readSettings } from "../../src/settings.ts";

const deploy = join(import.meta.dirname, "../../../../deploy");
const variables = z.array(z.object({ name: z.string(), value: z.string() }));
const container = z.object({ name: z.string(), env: variables });
const manifest = z.object({
  kind: z.string(),
  metadata: z.object({ name: z.string(), namespace: z.string() }),
  spec: z.object({ template: z.object({ spec: z.object({ containers: z.array(container) }) }).optional() }),
});

function deploymentIn(file: string) {
  const documents = parseAllDocuments(readFileSync(join(deploy, file), "utf8"));
  const found = documents.map((each) => manifest.safeParse(each.toJS()).data);
  const deployment = found.find((each) => each?.kind === "Deployment");
  const [first] = deployment?.spec.template?.spec.containers ?? [];
  return { location: deployment?.metadata, name: first?.name, env: first?.env ?? [] };
}

const base = deploymentIn("webhook.yaml");

test.each([
  { file: "webhook-cert-manager.yaml", source: { kind: "file", path: "/certificates/ca.crt" } },
  {
    file: "webhook-service-ca.yaml",
    source: {
      kind: "configMap",
      ref: { namespace: "quartermaster", name: "quartermaster-webhook-service-ca" },
      key: "service-ca.crt",
    },
  },
])("$file patches the webhook's container with settings that work", ({ file, source }) => {
  const patch = deploymentIn(file);
  expect({ location: patch.location, name: patch.name }).toEqual({
    location: base.location,
    name: base.name,
  });
  const env = Object.fromEntries([...base.env, ...patch.env].map(({ name, value }) => [name, value]));
  expect(readSettings([], env).webhook).toMatchObject({
    files: { certificatePath: "/certificates/tls.crt", keyPath: "/certificates/tls.key" },
    caSource: source,
  });
});

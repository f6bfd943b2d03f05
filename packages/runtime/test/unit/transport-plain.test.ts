import { expect, test } from "vitest";

import { fixedSource } from "../../src/config/cluster-config.ts";
import { ConfigError } from "../../src/errors.ts";
import { Identity } from "../../src/transport/identity.ts";

const tls = { cas: fixedSource<string | undefined>(undefined), insecure: false };

test.each([
  { name: "a token", given: { token: "t" }, want: "configInsecure" },
  { name: "a password", given: { basic: { username: "u", password: "p" } }, want: "configInsecure" },
  { name: "nothing", given: {}, want: undefined },
])("[security/102] $name on http: $want", async ({ given, want }) => {
  const identityOn = async (server: string): Promise<unknown> =>
    await new Identity({ server, tls, credentials: fixedSource(given) })
      .refresh()
      .catch((error: unknown) => error);
  const found = await identityOn("http://127.0.0.1:8001");
  expect(found instanceof ConfigError ? found.code : undefined).toBe(want);
  expect(await identityOn("https://127.0.0.1:6443")).not.toBeInstanceOf(ConfigError);
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { ApiError, type Client } from "@quartermaster/runtime";
import { afterAll, describe, expect, test } from "vitest";

import { subscriptionSettings } from "../../src/cluster/subscription-settings.ts";

const directory = mkdtempSync(join(tmpdir(), "settings-"));
afterAll(() => {
  rmSync(directory, { recursive: true });
});

function fileWith(content: string): string {
  const path = join(directory, `${content.length}.json`);
  writeFileSync(path, content);
  return path;
}

/** A cluster that answers for the operator's ConfigMap. */
async function request(
  response: string | undefined | Error,
  file?: string,
  operatorNamespace = "quartermaster",
) {
  const notes: string[] = [];
  const requested: unknown[] = [];
  const client = {
    find: async (_kind: unknown, ref: unknown) => {
      requested.push(ref);
      await Promise.resolve();
      if (response instanceof Error) throw response;
      return response === undefined ? undefined : { data: { "subscription.json": response } };
    },
  } as unknown as Client;
  const { signal } = new AbortController();
  const note = (text: string): void => {
    notes.push(text);
  };
  const settings = await subscriptionSettings({ file, operatorNamespace, client, signal, note });
  return { settings, notes, requested };
}

describe("settings of subscription injection", () => {
  test("are those of the operator in the cluster", async () => {
    const { settings, notes, requested } = await request('{"mixedScopes":"Reject"}', undefined, "elsewhere");
    expect(settings.mixedScopes).toBe("Reject");
    expect(notes).toEqual([]);
    expect(requested).toEqual([{ namespace: "elsewhere", name: "quartermaster-subscription" }]);
  });

  test("a file wins, and the cluster is not asked", async () => {
    const { settings, requested } = await request(
      '{"mixedScopes":"Reject"}',
      fileWith('{"repoLayout":"files"}'),
    );
    expect(settings).toMatchObject({ mixedScopes: "Allow", repoLayout: "files" });
    expect(requested).toEqual([]);
  });

  const forbidden = new ApiError("no", { class: "forbidden", mayHaveActed: false });
  test.each([
    { name: "no ConfigMap", response: undefined, says: "does not exist" },
    { name: "no permission", response: forbidden, says: "may not be read" },
  ])("$name: the defaults are assumed, with a note", async ({ response, says }) => {
    const { settings, notes } = await request(response);
    expect(settings.mixedScopes).toBe("Allow");
    expect(notes).toEqual([expect.stringContaining(says) as unknown]);
  });

  test.each([
    { name: "not JSON", file: "{", says: /not JSON/ },
    { name: "an unknown field", file: '{"profil":"seed"}', says: /profil/ },
  ])("a file with $name is refused", async ({ file, says }) => {
    await expect(request(undefined, fileWith(file))).rejects.toThrow(says);
  });

  test("a file that is not there is refused", async () => {
    await expect(request(undefined, "/nowhere.json")).rejects.toThrow(/\/nowhere.json cannot be read/);
  });
});

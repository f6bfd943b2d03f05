import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { parse, stringify } from "yaml";
import { z } from "zod";

import type { Kubectl } from "./kubectl.ts";

const anyObject = z.looseObject({});
const adminConfig = z.looseObject({ users: z.tuple([z.object({ name: z.string(), user: anyObject })]) });

/**
 * Writes a kubeconfig with which the operator is its own account and not the administrator, so that what it may do here is what
 * config/rbac gives it. Returns the path.
 */
export async function operatorKubeconfig(
  folder: string,
  kubectl: Kubectl,
  accountName: "quartermaster-operator" | "quartermaster-webhook" = "quartermaster-operator",
): Promise<string> {
  const account = [accountName, "--namespace=quartermaster"];
  const token = await kubectl(["create", "token", ...account, "--duration=8760h"]);
  const admin = adminConfig.parse(parse(await readFile(join(folder, "kubeconfig"), "utf8")));
  const users = [{ name: admin.users[0].name, user: { token: token.trim() } }];
  const path = join(folder, `${accountName.replace("quartermaster-", "")}.kubeconfig`);
  await writeFile(path, stringify({ ...admin, users }), { mode: 0o600 });
  return path;
}

import {
  ApiError,
  type Context,
  defineKind,
  type Discovery,
  type Kind,
  type KubeObject,
} from "@quartermaster/runtime";
import { expect, test } from "vitest";

import { protectionOf } from "../../../src/inventory/protection.ts";
import { labelledObject } from "../../support/labelled-object.ts";
import { aPlan } from "../../support/plans.ts";

type Holder = Parameters<typeof protectionOf>[0];

const live: KubeObject = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } };
const holder = {
  entry: {
    identity: { apiVersion: "v1", kind: "Namespace", name: "shop" },
    lifecycle: { protectData: true },
  },
  live,
  plan: { metadata: { name: "plan", namespace: "home", uid: "1" } },
  account: responding({ status: { allowed: true } }),
} as unknown as Holder;

/** An account about whose permissions the server says this. */
function responding(response: object): object {
  return {
    raw: async () => {
      if (response instanceof Error) throw response;
      return await Promise.resolve(response);
    },
  };
}

function kindOf(kind: string): Kind & { readonly verbs: readonly string[] } {
  const plural = `${kind.toLowerCase()}s`;
  const defined = defineKind({ group: "example.com", version: "v1", kind, plural, scope: "Namespaced" });
  return { ...defined, verbs: ["list"] };
}

function anObject(kind: string): KubeObject {
  return { apiVersion: "example.com/v1", kind, metadata: { name: "theirs", namespace: "shop" } };
}

/** A server that gives these objects by kind, or an error, and a discovery that tells of all these kinds. */
function aCluster(responses: Readonly<Record<string, readonly KubeObject[] | ApiError>>): {
  readonly ctx: Context;
  readonly discovery: Discovery;
  readonly isRequestedAgain: () => boolean;
} {
  let isRequestedAgain = false;
  const list = async function* ({ kind }: Kind): AsyncGenerator<KubeObject> {
    const response = await Promise.resolve(responses[kind] ?? []);
    if (response instanceof ApiError) throw response;
    yield* response;
  };
  const discovery = {
    all: async () => await Promise.resolve(Object.keys(responses).map(kindOf)),
    invalidate: () => {
      isRequestedAgain = true;
    },
  };
  return {
    ctx: { client: { list }, signal: new AbortController().signal } as unknown as Context,
    discovery: discovery as unknown as Discovery,
    isRequestedAgain: () => isRequestedAgain,
  };
}

const gone = new ApiError("list: 404", { class: "notFound", status: 404, mayHaveActed: false });
const away = new ApiError("list: 503", { class: "transient", status: 503, mayHaveActed: false });

test("a namespace with nothing but the plan's own is not protected", async () => {
  const { ctx, discovery } = aCluster({ Widget: [] });
  expect(await protectionOf(holder, ctx, discovery)).toBeUndefined();
});

test("a kind that went with its definition holds nothing, the others are still looked at, and discovery is read again", async () => {
  const { ctx, discovery, isRequestedAgain } = aCluster({ Deleted: gone, Widget: [anObject("Widget")] });
  expect(await protectionOf(holder, ctx, discovery)).toContain("Widget theirs");
  expect(isRequestedAgain()).toBe(true);
});

test("a kind that cannot be queried about is a doubt, and a doubt does not delete", async () => {
  const { ctx, discovery } = aCluster({ Widget: away });
  await expect(protectionOf(holder, ctx, discovery)).rejects.toBe(away);
});

test.each([1, 2, 3, 4])(
  "of the plan's own %i objects one that stays behind protects the namespace, as those of others do",
  async (count) => {
    const plan = aPlan("plan");
    const own = ["a", "b", "c", "d"].slice(0, count).map((name) => {
      const identity = { apiVersion: "example.com/v1", kind: "Widget", namespace: "shop", name };
      const object = labelledObject(plan, identity);
      return { ...object, metadata: { ...object.metadata, uid: `uid-${name}` } };
    });
    const { ctx, discovery } = aCluster({ Widget: own });
    const ours = { ...holder, plan } as Holder;
    expect(await protectionOf(ours, ctx, discovery)).toBeUndefined();
    for (const { metadata } of own)
      expect(await protectionOf({ ...ours, staying: new Set([metadata.uid]) }, ctx, discovery)).toContain(
        `Widget ${metadata.name}`,
      );
  },
);

const refused = new ApiError("review: 403", { class: "forbidden", status: 403, mayHaveActed: false });

test.each([
  { name: "an account that may not read it", response: { status: { allowed: false } } },
  { name: "an account that cannot be queried", response: refused },
])("the object of others is not named to $name", async ({ response }) => {
  const { ctx, discovery } = aCluster({ Widget: [anObject("Widget")] });
  const account = responding(response) as Holder["account"];
  const reason = await protectionOf({ ...holder, account }, ctx, discovery);
  expect(reason).toBe("it contains objects that do not belong to the plan");
});

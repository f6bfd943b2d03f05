// Checked by tsc: each expected error below is a promise of the public API. An error that no longer comes fails the check.
import type {
  Applied,
  Client,
  Kind,
  KubeObject,
  Outcome,
  ReadStore,
  Recipe,
  Rule,
  Verdict,
} from "../../src/index.ts";
import { defineController, defineKind, settled, stalled, unreachable, waiting } from "../../src/index.ts";

interface Copy extends KubeObject {
  readonly spec: { readonly text: string; readonly replicas?: number };
}

interface Seen {
  readonly copy: Copy;
}

type Action = { readonly kind: "write"; readonly text: string } | { readonly kind: "remove" };

const copies: Kind<Copy> = defineKind<Copy>({
  group: "example.org",
  version: "v1",
  kind: "Copy",
  plural: "copies",
  scope: "Namespaced",
});

const names = { apiVersion: "example.org/v1", kind: "Copy", metadata: { name: "a", namespace: "n" } };

export async function applies(client: Client): Promise<void> {
  const options = { fieldManager: "test", force: true };
  await client.apply(copies, { ...names, spec: { replicas: 1 } }, options);
  // @ts-expect-error -- a field that the kind does not have
  await client.apply(copies, { ...names, spec: { replica: 1 } }, options);
  // @ts-expect-error -- a field of the wrong type
  await client.apply(copies, { ...names, spec: { text: 1 } }, options);
  // @ts-expect-error -- force is never implied
  await client.apply(copies, { ...names, spec: {} }, { fieldManager: "test" });
}

/** What the server sent has an identity; what is sent to it need not have one. */
export async function identities(client: Client, store: ReadStore<Copy>): Promise<readonly string[]> {
  const made = await client.create(copies, { ...names, spec: { text: "a" } });
  const stored = store.list().map(({ metadata }) => metadata.resourceVersion);
  const written: Copy = made;
  // @ts-expect-error -- anybody can write an object without a uid
  const uid: string = written.metadata.uid;
  return [uid, made.metadata.uid, made.metadata.namespace, ...stored];
}

export const withoutName: Applied<Copy> = {
  apiVersion: "example.org/v1",
  kind: "Copy",
  // @ts-expect-error -- an apply names its object
  metadata: {},
};

export function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case "settled":
      return "settled";
    case "waiting":
      return outcome.why.reason;
    case "held":
    case "stalled":
      return outcome.why.message;
    default:
      return unreachable(outcome);
  }
}

export function forgetsStalled(outcome: Outcome): string {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the missing case is what is tested
  switch (outcome.kind) {
    case "settled":
    case "waiting":
      return "fine";
    default:
      // @ts-expect-error -- stalled is missing
      return unreachable(outcome);
  }
}

const why = { reason: "Because", message: "Because of it." };

// @ts-expect-error -- waiting says when to look again
export const waitsForEver: Outcome = { kind: "waiting", why };
// @ts-expect-error -- settled is not a matter of time
export const settledLater: Outcome = { kind: "settled", retryAfterMs: 5 };
export const outcomes: readonly Outcome[] = [settled(), stalled(why), waiting(why, 1_000)];

// @ts-expect-error -- an action that the recipe does not know
export const unknownAction: Verdict<Action> = { actions: [{ kind: "explode" }], outcome: settled() };

export const asynchronous: Rule<Seen, Action> = {
  name: "asynchronous",
  // @ts-expect-error -- rules are pure: no promises
  decide: async () => await Promise.resolve({ actions: [], outcome: settled() }),
};

const recipe: Recipe<Copy, Seen, Action> = {
  finalizer: "example.org/copies",
  rules: [
    {
      name: "always",
      decide: ({ copy }) => ({ actions: [{ kind: "write", text: copy.spec.text }], outcome: settled() }),
    },
  ],
  observe: async (copy) => await Promise.resolve({ copy }),
  perform: async (action, ctx) => {
    // @ts-expect-error -- domains do not see the queue
    await Promise.resolve(ctx.queue);
    // @ts-expect-error -- nor the clock
    await Promise.resolve(ctx.clock);
    const [first] = ctx.store(copies).list();
    // @ts-expect-error -- what came from the store is never edited
    if (first !== undefined) first.spec.text = action.kind;
  },
  cleanUp: async () => await Promise.resolve(settled()),
};

export const controller = defineController(copies, { recipe });

interface Other extends KubeObject {
  readonly spec: number;
}

const others: Kind<Other> = defineKind<Other>({ ...copies, kind: "Other", plural: "others" });
// @ts-expect-error -- the recipe is for another kind
export const mismatched = defineController(others, { recipe });

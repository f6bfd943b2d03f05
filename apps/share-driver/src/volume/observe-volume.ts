import { share as shareDefinition } from "@quartermaster/api";
import {
  type Client,
  classify,
  type KubeObject,
  reviewAccess,
  serviceAccountSubject,
} from "@quartermaster/runtime";

import { type BackingRef, kindOf } from "../payload.ts";
import { Refusal } from "../refusal.ts";
import type { SingleFlight } from "./single-flight.ts";
import type { VolumePod, VolumeRequest } from "./volume-request.ts";

export interface ShareAccess {
  readonly name: string;
  readonly isPermitted: boolean;
  /** Undefined when there is no such Share, or one that is being deleted. */
  readonly backing?: BackingRef | undefined;
}

/** A Share that a volume requests. The object behind a Share that the pod may not use is not read. */
export interface SeenShare extends ShareAccess {
  /** Undefined when there is no such object. */
  readonly object?: KubeObject | undefined;
}

export interface ObserveOptions {
  readonly client: Client;
  readonly signal: AbortSignal;
  /** Questions of all volumes that are in progress. */
  readonly questions: SingleFlight;
}

/** Reads everything that the decision about a volume needs. Throws a Refusal when the API server gives no response. */
export async function observeVolume(
  { pod, shares }: Pick<VolumeRequest, "pod" | "shares">,
  options: ObserveOptions,
): Promise<readonly SeenShare[]> {
  return await Promise.all(
    shares.map(async (name) => {
      const access = await observeAccess(name, pod, options);
      const { backing } = access;
      if (backing === undefined) return access;
      const { client, signal, questions } = options;
      const key = ["object", backing.kind, backing.namespace, backing.name];
      const object = await responded(
        name,
        async () =>
          await questions.run(key, async () => await client.find(kindOf(backing), backing, { signal })),
      );
      return { ...access, object };
    }),
  );
}

/** Reads whether the pod may use the Share, and what the Share names. Throws a Refusal when the API server gives no response. */
export async function observeAccess(
  name: string,
  pod: VolumePod,
  options: ObserveOptions,
): Promise<ShareAccess> {
  const { client, signal, questions } = options;
  const { namespace, serviceAccount } = pod;
  const query = async <T>(key: readonly string[], question: () => Promise<T>): Promise<T> =>
    await responded(name, async () => await questions.run(key, question));
  // At the same time: the responses take longer than anything else here. Of a Share that the pod may not use nothing is passed on.
  const [permission, read] = await Promise.allSettled([
    query(["use", namespace, serviceAccount, name], async () => await mayUse(name, pod, options)),
    query(["share", name], async () => await client.find(shareDefinition.kind, { name }, { signal })),
  ]);
  const isPermitted = valueOf(permission);
  if (!isPermitted) return { name, isPermitted };
  const found = valueOf(read);
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return { name, isPermitted };
  return { name, isPermitted, backing: found.spec.backingResource };
}

function valueOf<T>(settled: PromiseSettledResult<T>): T {
  if (settled.status === "fulfilled") return settled.value;
  throw settled.reason;
}

async function mayUse(
  name: string,
  { namespace, serviceAccount }: VolumePod,
  { client, signal }: ObserveOptions,
): Promise<boolean> {
  const { group, plural } = shareDefinition.kind;
  return await reviewAccess(
    client,
    { verb: "use", group, resource: plural, namespace, name },
    {
      signal,
      subject: serviceAccountSubject({ namespace, name: serviceAccount }),
    },
  );
}

/** No response is neither a yes nor "not there". kubelet tries again on its own. */
async function responded<T>(share: string, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    const errorClass = classify(error);
    if (errorClass === "forbidden")
      throw new Refusal(
        "DriverForbidden",
        `the share driver may not read what Share "${share}" needs`,
        error,
      );
    // The kind itself is not served: `find` passes that on.
    if (errorClass === "notFound") throw new Refusal("ShareNotFound", `Share "${share}" not found`, error);
    throw new Refusal(
      "Unavailable",
      `Share "${share}": the API server gave no response (${errorClass})`,
      error,
    );
  }
}

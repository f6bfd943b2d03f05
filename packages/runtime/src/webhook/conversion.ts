import * as z from "zod";

import type { KubeObject } from "../object/kube-object.ts";

/** Turns one object into the same object in another version; throws `ConversionError` when it cannot be expressed there. */
export type ConvertObject = (object: KubeObject, desiredApiVersion: string) => KubeObject;

/** An object that has no equal in the version requested. The message goes to the user. */
export class ConversionError extends Error {
  override readonly name = "ConversionError";
}

/** The versions of a kind around one that can express all of them. */
export interface HubAndSpokes {
  /** apiVersion of the hub, e.g. `example.org/v1`. */
  readonly hub: string;
  /** By apiVersion. Each function sets the apiVersion of what it returns on its own being called for it. */
  readonly spokes: Readonly<Record<string, Spoke>>;
}

/** One version's way to the hub and back. */
export interface Spoke {
  readonly toHub: (object: KubeObject) => KubeObject;
  readonly fromHub: (object: KubeObject) => KubeObject;
}

/**
 * Converts between any two versions over the hub; what is in the version requested already is left as it is.
 *
 * @example
 * const convert = convertOverHub({ hub: "example.org/v1", spokes: { "example.org/v1beta1": { toHub, fromHub } } });
 */
export function convertOverHub({ hub, spokes }: HubAndSpokes): ConvertObject {
  const ways = new Map(Object.entries(spokes));
  const wayOf = (apiVersion: string): Spoke => {
    const way = ways.get(apiVersion);
    if (way === undefined) throw new ConversionError(`version ${apiVersion} is not known`);
    return way;
  };
  return (object, desired) => {
    if (object.apiVersion === desired) return object;
    const inHub = object.apiVersion === hub ? object : wayOf(object.apiVersion).toHub(object);
    const converted = desired === hub ? inHub : wayOf(desired).fromHub(inHub);
    return { ...converted, apiVersion: desired };
  };
}

/** The question of a ConversionReview. */
export interface ConversionRequest {
  readonly uid: string;
  readonly desiredAPIVersion: string;
  readonly objects: readonly KubeObject[];
}

/** The request inside a review, or undefined when it is not a ConversionReview of v1 with a uid. */
export function readConversion(review: unknown): ConversionRequest | undefined {
  const parsed = conversionReview.safeParse(review);
  return parsed.success ? parsed.data.request : undefined;
}

/** Converts all objects or none. Faults of ours are thrown. */
export function conversionResponse(
  { uid, desiredAPIVersion, objects }: ConversionRequest,
  convert: ConvertObject,
): unknown {
  const reply = (response: object): unknown => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    response: { uid, ...response },
  });
  try {
    const convertedObjects = objects.map((object) => convert(object, desiredAPIVersion));
    return reply({ convertedObjects, result: { status: "Success" } });
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    return reply({ convertedObjects: [], result: { status: "Failure", message: error.message } });
  }
}

const conversionReview = z.object({
  apiVersion: z.literal("apiextensions.k8s.io/v1"),
  kind: z.literal("ConversionReview"),
  request: z.object({
    uid: z.string().min(1),
    desiredAPIVersion: z.string().min(1),
    objects: z.array(z.custom<KubeObject>(isKubeObject)),
  }),
});

/** Checked without being copied: the object goes through untouched. */
function isKubeObject(value: unknown): boolean {
  return kubeObject.safeParse(value).success;
}

const kubeObject = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({}),
});

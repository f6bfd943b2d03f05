import * as z from "zod";

import type { InvalidCause } from "../errors.ts";
import type { JsonPatchOperation } from "../object/patch-between.ts";
import { stringifyJson } from "../transport/parse-json.ts";

/** The question of an AdmissionReview. `object` and `oldObject` are foreign JSON: unknown fields and strange keys included. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subResource?: string | undefined;
  /** Absent when the server makes the name up. */
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly userInfo: AdmissionUser;
  /** Absent on DELETE. */
  readonly object?: unknown;
  /** Only on UPDATE and DELETE. */
  readonly oldObject?: unknown;
  readonly dryRun: boolean;
}

/** User of a review. */
export interface AdmissionUser {
  readonly username: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
}

/** Names a kind in one version. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Names where objects are served. */
export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** The response. A fault of ours is never a `deny`: throw, and the server applies the webhook's failure policy. */
export type AdmissionDecision =
  | {
      readonly kind: "allow";
      /** Only for mutating webhooks. */
      readonly patch?: readonly JsonPatchOperation[];
      readonly warnings?: readonly string[];
      readonly auditAnnotations?: AuditAnnotations;
    }
  | {
      readonly kind: "deny";
      /** One sentence for the user. */
      readonly message: string;
      /** HTTP status that the user's request gets (default: 403). */
      readonly code?: number;
      readonly reason?: string;
      /** The fields at fault; `kubectl` lists them. */
      readonly causes?: readonly InvalidCause[];
      readonly warnings?: readonly string[];
      readonly auditAnnotations?: AuditAnnotations;
    };

/** Facts for the audit log; the server puts the webhook's name before each key. Keys without a slash, no secrets. */
export type AuditAnnotations = Readonly<Record<string, string>>;

/** Decides upon a request; pure where it can be. The signal aborts when the caller would no longer hear the response. */
export type DecideAdmission = (
  request: AdmissionRequest,
  context: { readonly signal: AbortSignal },
) => AdmissionDecision | Promise<AdmissionDecision>;

/** The request inside a review, or undefined when it is not an AdmissionReview of v1 with a uid. */
export function readAdmission(review: unknown): AdmissionRequest | undefined {
  const parsed = admissionReview.safeParse(review);
  return parsed.success ? parsed.data.request : undefined;
}

/** The review with the response. */
export function admissionResponse(uid: string, decision: AdmissionDecision): unknown {
  const { warnings = [], auditAnnotations } = decision;
  const isAllowed = decision.kind === "allow";
  const response = {
    uid,
    allowed: isAllowed,
    ...(warnings.length > 0 && { warnings }),
    ...(auditAnnotations !== undefined && { auditAnnotations }),
    ...(isAllowed ? patchOf(decision) : { status: refusalOf(decision) }),
  };
  return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response };
}

function patchOf({ patch = [] }: Extract<AdmissionDecision, { kind: "allow" }>): object {
  if (patch.length === 0) return {};
  return { patchType: "JSONPatch", patch: Buffer.from(stringifyJson(patch)).toString("base64") };
}

function refusalOf(decision: Extract<AdmissionDecision, { kind: "deny" }>): object {
  const { message, code = 403, reason, causes = [] } = decision;
  return {
    status: "Failure",
    code,
    message,
    ...(reason !== undefined && { reason }),
    ...(causes.length > 0 && { details: { causes } }),
  };
}

const groupVersionKind = z.object({ group: z.string(), version: z.string(), kind: z.string() });
const groupVersionResource = z.object({ group: z.string(), version: z.string(), resource: z.string() });

/** `object` stays what it was: a schema that copied it would lose keys such as `__proto__`. */
const admissionReview = z.object({
  apiVersion: z.literal("admission.k8s.io/v1"),
  kind: z.literal("AdmissionReview"),
  request: z.object({
    uid: z.string().min(1),
    kind: groupVersionKind,
    resource: groupVersionResource,
    subResource: z.string().optional(),
    name: z.string().optional(),
    namespace: z.string().optional(),
    operation: z.enum(["CREATE", "UPDATE", "DELETE", "CONNECT"]),
    userInfo: z
      .object({
        username: z.string().default(""),
        uid: z.string().optional(),
        groups: z.array(z.string()).default([]),
      })
      .default({ username: "", groups: [] }),
    object: z.unknown().optional(),
    oldObject: z.unknown().optional(),
    dryRun: z.boolean().default(false),
  }),
});

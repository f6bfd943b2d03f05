import type { AdmissionDecision, AdmissionRequest, WebhookRoute } from "@quartermaster/runtime";

/** The webhook that is measured. */
export const routes: readonly WebhookRoute[] = [{ kind: "admission", path: "/pods", decide }];

/** What a usual admission does: looks at a few fields of the pod and answers. */
function decide({ object }: AdmissionRequest): AdmissionDecision {
  const labels = labelsOf(object);
  if (Object.hasOwn(labels, "app")) return { kind: "allow" };
  return { kind: "deny", message: "a pod needs the label app" };
}

function labelsOf(object: unknown): object {
  const metadata = fieldOf(object, "metadata");
  const labels = fieldOf(metadata, "labels");
  return typeof labels === "object" && labels !== null ? labels : {};
}

function fieldOf(value: unknown, field: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, field)) return undefined;
  const found: unknown = Reflect.get(value, field);
  return found;
}

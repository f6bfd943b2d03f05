import { fieldOf, isJsonObject, type JsonObject, textOf } from "@quartermaster/runtime";

import type { EngineLicense, LicenseResponse } from "../../src/engine/engine-facts.ts";

const trialMs = 30 * 86_400_000;

/** A signature of a real license has at least as many characters; a shorter one ends the server's reading with an error. */
const shortestSignature = 32;

/**
 * The license of a fake Elasticsearch. Answers as recorded from real ones; what those cannot be made to say without the vendor's
 * key, the acceptance of a paid license, follows their documentation: such signatures begin with `valid`, or
 * are well-formed and say `signed by the vendor`.
 */
export class FakeLicense {
  #now: EngineLicense;
  #isTrialUsed = false;

  constructor(uid: string) {
    this.#now = { uid, type: "basic", status: "active", expiryMs: undefined, maxNodes: 1000 };
  }

  read(nowMs: number): EngineLicense {
    const isExpired = this.#now.expiryMs !== undefined && this.#now.expiryMs <= nowMs;
    return isExpired ? { ...this.#now, status: "expired" } : this.#now;
  }

  put(file: JsonObject, acknowledge: boolean, nowMs: number): LicenseResponse {
    const license = licenseIn(file);
    const fault = problemOf(license);
    if (fault !== undefined) return fault;
    const { type = "", uid = "" } = { type: textOf(license, "type"), uid: textOf(license, "uid") };
    const expiry = fieldOf(license, "expiry_date_in_millis");
    const expiryMs = typeof expiry === "number" ? expiry : undefined;
    if (expiryMs !== undefined && expiryMs <= nowMs) return response("expired");
    if (!acknowledge && rankOf(type) < rankOf(this.#now.type))
      return response("acknowledgeRequired", "The new license has fewer features than the current one.");
    const maxNodes = fieldOf(license, "max_nodes");
    const nodes = typeof maxNodes === "number" ? maxNodes : undefined;
    this.#now = { uid, type, status: "active", expiryMs, maxNodes: nodes };
    return response("applied");
  }

  startTrial(
    acknowledge: boolean,
    { uid, nowMs }: { readonly uid: string; readonly nowMs: number },
  ): LicenseResponse {
    if (!acknowledge) return response("acknowledgeRequired", "This API initiates a free 30-day trial.");
    if (this.#isTrialUsed) {
      const isTrial = this.#now.type === "trial" && this.read(nowMs).status === "active";
      return response(isTrial ? "alreadySo" : "refused", "Operation failed: Trial was already activated.");
    }
    this.#isTrialUsed = true;
    this.#now = { uid, type: "trial", status: "active", expiryMs: nowMs + trialMs, maxNodes: 1000 };
    return response("applied");
  }

  startBasic(acknowledge: boolean, uid: string): LicenseResponse {
    if (this.#now.type === "basic")
      return response("alreadySo", "Operation failed: Current license is basic.");
    if (!acknowledge) return response("acknowledgeRequired", "This license update requires acknowledgement.");
    this.#now = { uid, type: "basic", status: "active", expiryMs: undefined, maxNodes: 1000 };
    return response("applied");
  }
}

/** How the server turns a file down before it looks at dates. */
function problemOf(license: unknown): LicenseResponse | undefined {
  if (!isJsonObject(license)) return response("invalid", "parse_exception");
  const signature = textOf(license, "signature") ?? "";
  if (textOf(license, "type") === undefined) return response("invalid", "null_pointer_exception");
  if (signature.length < shortestSignature) return response("invalid", "buffer_underflow_exception");
  return isVendors(signature) ? undefined : response("invalid");
}

function isVendors(signature: string): boolean {
  const content = Buffer.from(signature, "base64").toString("latin1");
  return signature.startsWith("valid") || content.includes("signed by the vendor");
}

/** Files hold one license or a list of one. */
function licenseIn(file: JsonObject): unknown {
  const licenses = fieldOf(file, "licenses");
  return Array.isArray(licenses) ? licenses[0] : fieldOf(file, "license");
}

const ranks = ["basic", "standard", "gold", "platinum", "trial", "enterprise"];

function rankOf(type: string): number {
  return ranks.indexOf(type);
}

function response(outcome: LicenseResponse["outcome"], ...messages: readonly string[]): LicenseResponse {
  return { outcome, messages };
}

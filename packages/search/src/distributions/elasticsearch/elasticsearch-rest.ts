import { fieldOf, isJsonObject, type JsonObject, textOf } from "@quartermaster/runtime";
import { z } from "zod";

import type { EngineCall } from "../../engine/engine-client.ts";
import { EngineError } from "../../engine/engine-error.ts";
import type { EngineLicense, LicenseResponse, LicenseCause } from "../../engine/engine-facts.ts";
import type { EngineWire } from "../../engine/engine-wire.ts";
import { bounded, type EngineResponse, parseShape } from "../../engine/read-response.ts";
import type { LicenseApi, MakeDialect } from "../rest-dialect.ts";

/** Elasticsearch 7.17, 8.x and 9.x. */
export const elasticsearchRest: MakeDialect = (wire) => ({
  managerTimeout: "master_timeout",
  managerMetric: "master_node",
  security: undefined,
  license: new ElasticsearchLicense(wire),
  isServing: async (node) => {
    const path = "/_nodes/_local/http?filter_path=_nodes";
    const response = await wire.one(node, { call: "isServing", method: "GET", path, accepts: [401, 503] });
    return response.status !== 503;
  },
});

const licenseShape = z.object({
  license: z.object({
    uid: z.string(),
    type: z.string(),
    status: z.enum(["active", "invalid", "expired"]),
    expiry_date_in_millis: z.number().optional(),
    max_nodes: z.number().nullish(),
  }),
});

const trialShape = z.object({ eligible_to_start_trial: z.boolean() });

/** Statuses of the license API that say something about the license. */
const speakingStatuses = [400, 403, 500];

/** HTTP 500 means a license file that the server cannot read, which no retry mends; these are the server's own troubles. */
const serverTroubles: ReadonlySet<string> = new Set([
  "circuit_breaking_exception",
  "cluster_block_exception",
  "es_rejected_execution_exception",
  "failed_to_commit_cluster_state_exception",
  "node_closed_exception",
  "process_cluster_event_timeout_exception",
  "timeout_exception",
]);

/** Meaning of `license_status`; anything else is no license. */
const verdicts: ReadonlyMap<string, LicenseResponse["outcome"]> = new Map([
  ["valid", "applied"],
  ["expired", "expired"],
]);

class ElasticsearchLicense implements LicenseApi {
  readonly #wire: EngineWire;

  constructor(wire: EngineWire) {
    this.#wire = wire;
  }

  async read(): Promise<EngineLicense> {
    const { value } = await this.#wire.any({ call: "license", method: "GET", path: "/_license" });
    const { license } = parseShape(licenseShape, value, "license");
    return {
      uid: bounded(license.uid, 100),
      type: bounded(license.type, 40),
      status: license.status,
      expiryMs: license.expiry_date_in_millis,
      maxNodes: license.max_nodes ?? undefined,
    };
  }

  async put(license: JsonObject, acknowledge: boolean): Promise<LicenseResponse> {
    const path = `/_license?acknowledge=${acknowledge}`;
    const request = { call: "putLicense", method: "PUT", path, body: license } as const;
    const response = await this.#wire.any({ ...request, accepts: speakingStatuses, isSecret: true });
    const { status, value } = response;
    if (status === 400 || (status === 500 && isBrokenFile(value)))
      return judged("invalid", value, { isSecret: true });
    assertResponded("putLicense", response);
    if (fieldOf(value, "acknowledged") !== true) return judged("acknowledgeRequired", value);
    return judged(verdicts.get(textOf(value, "license_status") ?? "") ?? "invalid", value);
  }

  async start(type: "trial" | "basic", acknowledge: boolean): Promise<LicenseResponse> {
    const call = type === "trial" ? "startTrial" : "startBasic";
    if (type === "trial" && !(await this.#isTrialLeft()))
      return await this.#notStarted(type, { error_message: "Trial was already activated." });
    const path = `/_license/start_${type}?acknowledge=${acknowledge}`;
    const response = await this.#wire.any({ call, method: "POST", path, accepts: [403] });
    const { status, value } = response;
    const wasStarted = fieldOf(value, `${type}_was_started`);
    if (status === 403 && wasStarted === false) return await this.#notStarted(type, value);
    assertResponded(call, response);
    if (wasStarted === true) return judged("applied", value);
    return judged(fieldOf(value, "acknowledged") === true ? "refused" : "acknowledgeRequired", value);
  }

  /** Queried before a start: each major version has one trial. */
  async #isTrialLeft(): Promise<boolean> {
    const request = { call: "startTrial", method: "GET", path: "/_license/trial_status" } as const;
    const { value } = await this.#wire.any(request);
    return parseShape(trialShape, value, "startTrial").eligible_to_start_trial;
  }

  /** The same 403 means that it is so already, and that a trial was used up long ago. */
  async #notStarted(type: string, value: unknown): Promise<LicenseResponse> {
    const now = await this.read();
    return judged(now.type === type && now.status === "active" ? "alreadySo" : "refused", value);
  }
}

function isBrokenFile(value: unknown): boolean {
  const type = textOf(fieldOf(value, "error"), "type");
  return type !== undefined && !serverTroubles.has(type);
}

/** The other statuses, which carry a fact for some responses only. */
function assertResponded(call: EngineCall, { status, value }: EngineResponse): void {
  if (status < 300) return;
  const code = status === 403 ? "forbidden" : "unavailable";
  const type = bounded(textOf(fieldOf(value, "error"), "type") ?? "no type", 80);
  throw new EngineError(`${call}: HTTP ${status} (${type})`, { code, status, type });
}

/** Maximum number of messages of one response. */
const messageLimit = 20;

function judged(
  outcome: LicenseResponse["outcome"],
  value: unknown,
  { isSecret = false }: { readonly isSecret?: boolean } = {},
): LicenseResponse {
  const raw = isJsonObject(value) ? value : {};
  // An error about a broken file may quote the file.
  const texts = isSecret ? [textOf(fieldOf(value, "error"), "type") ?? ""] : reasonText(raw);
  const messages = texts.filter((text) => text !== "").slice(0, messageLimit);
  return {
    outcome,
    cause: causeOf(value),
    messages: messages.map((text) => bounded(text)),
  };
}

/** Errors that are about the cluster and not about the file have no type of their own: the server's words are all there is. */
const causes: readonly (readonly [string, LicenseCause])[] = [
  ["licenses is not allowed on this cluster", "typeNotAllowed"],
  ["unless TLS is configured or security is disabled", "tlsRequired"],
  ["unless FIPS mode is disabled", "fipsMode"],
];

function causeOf(value: unknown): LicenseCause | undefined {
  const reason = textOf(fieldOf(value, "error"), "reason") ?? "";
  return causes.find(([terms]) => reason.includes(terms))?.[1];
}

/** Its messages on the whole and on each feature. */
function reasonText(raw: JsonObject): readonly string[] {
  const notes = fieldOf(raw, "acknowledge");
  const perFeature = isJsonObject(notes) ? Object.values(notes).flat() : [];
  return [textOf(raw, "error_message") ?? "", ...perFeature.filter((text) => typeof text === "string")];
}

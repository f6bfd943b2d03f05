import type { JsonObject, System } from "@quartermaster/runtime";

import type {
  SecurityDocuments,
  SecurityDocumentType,
  SecurityEntityType,
  TlsLayer,
} from "../engine/engine-client.ts";
import type { EngineLicense, LicenseResponse } from "../engine/engine-facts.ts";
import type { EngineWire } from "../engine/engine-wire.ts";

export interface RestDialect {
  /** Parameter for how long a call waits for an elected manager. */
  readonly managerTimeout: string;
  /** Part of the cluster's state that names the elected manager. */
  readonly managerMetric: string;
  readonly security: SecurityApi | undefined;
  readonly license: LicenseApi | undefined;
  isServing(node: string): Promise<boolean>;
}

/** Makes a dialect over a wire. */
export type MakeDialect = (
  wire: EngineWire,
  options: { readonly isSecured: boolean; readonly system: Pick<System, "sleep"> },
) => RestDialect;

/** The security plugin of OpenSearch. */
export interface SecurityApi {
  hasIndex(): Promise<boolean>;
  init(documents: SecurityDocuments): Promise<readonly SecurityDocumentType[]>;
  list(type: SecurityEntityType): Promise<ReadonlyMap<string, JsonObject>>;
  put(type: SecurityEntityType, name: string, body: JsonObject): Promise<void>;
  delete(type: SecurityEntityType, name: string): Promise<void>;
  transportEndMs(node: string): Promise<number>;
  reload(node: string, layer: TlsLayer): Promise<void>;
}

/** The license API of Elasticsearch. */
export interface LicenseApi {
  read(): Promise<EngineLicense>;
  put(license: JsonObject, acknowledge: boolean): Promise<LicenseResponse>;
  start(type: "trial" | "basic", acknowledge: boolean): Promise<LicenseResponse>;
}

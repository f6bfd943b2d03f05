import { effect, type FieldTable, type FieldVerdict, type IdleCase, none, valueAt } from "./field-verdict.ts";

type Layer = "http" | "transport";

const isOff: IdleCase = {
  when: ({ spec }) =>
    valueAt(spec, "security.tls.http.enabled") === false &&
    valueAt(spec, "security.tls.transport.enabled") === false,
  why: "Security is off: TLS is disabled on both layers.",
};

const isPlain: IdleCase = {
  when: ({ spec }) => valueAt(spec, "security.tls.http.enabled") === false,
  why: "Clients talk to nodes without TLS: security.tls.http.enabled is false.",
};

function isSet(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isSupplied(layer: Layer): (scope: { readonly spec: object }) => boolean {
  return ({ spec }) => {
    const generate = valueAt(spec, `security.tls.${layer}.generate`);
    const name = valueAt(spec, `security.tls.${layer}.secret.name`);
    return generate === false || (generate === undefined && isSet(name));
  };
}

const isNotGenerated = (layer: Layer): IdleCase => ({
  when: isSupplied(layer),
  why: "The certificate of this layer is the author's: it is in secret.",
});

const isGenerated = (layer: Layer): IdleCase => ({
  when: (scope) => !isSupplied(layer)(scope),
  why: "The operator issues the certificate of this layer: generate is true.",
});

function layerFields(layer: Layer): FieldTable {
  const certificate = `Secret <cluster>-${layer}-cert`;
  const issued = (shown: string): FieldVerdict => effect(shown, isOff, isNotGenerated(layer));
  return {
    enabled:
      layer === "http"
        ? effect("TLS settings in opensearch.yml, scheme of probes, status.access")
        : effect("TLS settings in opensearch.yml", {
            when: ({ spec }) =>
              valueAt(spec, "security.tls.transport.enabled") === false &&
              valueAt(spec, "security.tls.http.enabled") !== false,
            why: "Engines cannot secure clients without TLS between nodes: set security.tls.http.enabled to false as well.",
          }),
    generate: effect(`${certificate}, or the author's Secret in volume certificates`, isOff),
    "secret.name": effect("volume certificates of the pods", isOff, isGenerated(layer)),
    duration: issued(`validity of the certificate in ${certificate}`),
    enableHotReload: none("Certificates are always reloaded without a restart where the engine can.", [true]),
    rotateDaysBeforeExpiry: issued(`time at which ${certificate} is renewed`),
    adminDn: effect("plugins.security.authcz.admin_dn in opensearch.yml", isOff),
  };
}

const config: FieldTable = {
  "adminCredentialsSecret.name": effect("password of the administrator in the engine, by its API", isOff),
  "adminSecret.name": effect("client certificate of the operator", isOff, isPlain, {
    when: ({ spec }) => isSet(valueAt(spec, "security.config.operatorClientCert.name")),
    why: "operatorClientCert is set, and wins.",
  }),
  "operatorClientCert.name": effect("client certificate of the operator", isOff, isPlain),
  operatorClientServerName: effect(
    "name that the operator verifies in the certificates of nodes",
    isOff,
    isPlain,
  ),
  "securityConfigSecret.name": effect(
    "users, roles and mappings of the engine, by its API; at Elasticsearch Secret <cluster>-file-realm",
    isOff,
  ),
  updateJob: none("The operator runs no Job: it applies users and roles through the engine's API."),
};

/** Fields of `security`. */
export const securityFields: FieldTable = {
  ...prefixed("config", config),
  ...prefixed("tls.http", layerFields("http")),
  ...prefixed("tls.transport", layerFields("transport")),
  "tls.http.caSecret.name": effect(
    "issuer of the certificate in Secret <cluster>-http-cert, or whom nodes trust",
    isOff,
  ),
  "tls.transport.caSecret.name": effect(
    "issuer of the certificates that the operator issues, or whom nodes trust",
    isOff,
  ),
  "tls.http.customFQDN": effect(
    "names in the certificate in Secret <cluster>-http-cert",
    isOff,
    isNotGenerated("http"),
  ),
  "tls.transport.nodesDn": effect("plugins.security.nodes_dn in opensearch.yml", isOff),
  "tls.transport.perNode": none("One certificate names all nodes, and is renewed in one step.", [false]),
};

function prefixed(prefix: string, table: FieldTable): FieldTable {
  return Object.fromEntries(Object.entries(table).map(([path, verdict]) => [`${prefix}.${path}`, verdict]));
}

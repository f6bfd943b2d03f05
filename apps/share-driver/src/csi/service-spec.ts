import { defineProtocol, type MessageCodec } from "./define-protocol.ts";

/**
 * The messages of CSI 1.x that a node plugin for ephemeral volumes speaks, with the numbers of `csi.proto`. What we never read,
 * such as capabilities of volumes, is left out: unknown fields are skipped.
 */
const csi = defineProtocol("csi.v1", {
  GetPluginInfoRequest: {},
  GetPluginInfoResponse: { name: [1, "string"], vendor_version: [2, "string"], manifest: [3, "map"] },
  GetPluginCapabilitiesRequest: {},
  GetPluginCapabilitiesResponse: {},
  ProbeRequest: {},
  ProbeResponse: { ready: [1, "google.protobuf.BoolValue"] },
  NodeGetInfoRequest: {},
  NodeGetInfoResponse: { node_id: [1, "string"], max_volumes_per_node: [2, "int64"] },
  NodeGetCapabilitiesRequest: {},
  NodeGetCapabilitiesResponse: {},
  BlockVolume: {},
  VolumeCapability: { block: [1, "BlockVolume"] },
  NodePublishVolumeRequest: {
    volume_id: [1, "string"],
    target_path: [4, "string"],
    volume_capability: [5, "VolumeCapability"],
    readonly: [6, "bool"],
    volume_context: [8, "map"],
  },
  NodePublishVolumeResponse: {},
  NodeUnpublishVolumeRequest: { volume_id: [1, "string"], target_path: [2, "string"] },
  NodeUnpublishVolumeResponse: {},
});

/** kubelet's registration of plugins, `pluginregistration/v1`. */
const registration = defineProtocol("pluginregistration", {
  InfoRequest: {},
  PluginInfo: {
    type: [1, "string"],
    name: [2, "string"],
    endpoint: [3, "string"],
    supported_versions: [4, "string", "repeated"],
  },
  RegistrationStatus: { plugin_registered: [1, "bool"], error: [2, "string"] },
  RegistrationStatusResponse: {},
});

/** A method of a service: what comes in and what goes out. */
export interface MethodSpec {
  readonly request: MessageCodec;
  readonly response: MessageCodec;
}

/** A service by its full name, with its methods. */
export interface ServiceSpec {
  readonly name: string;
  readonly methods: Readonly<Record<string, MethodSpec>>;
}

function csiMethod(name: string): Readonly<Record<string, MethodSpec>> {
  return { [name]: { request: csi(`${name}Request`), response: csi(`${name}Response`) } };
}

export const identityService: ServiceSpec = {
  name: "csi.v1.Identity",
  methods: { ...csiMethod("GetPluginInfo"), ...csiMethod("GetPluginCapabilities"), ...csiMethod("Probe") },
};

export const nodeService: ServiceSpec = {
  name: "csi.v1.Node",
  methods: {
    ...csiMethod("NodeGetInfo"),
    ...csiMethod("NodeGetCapabilities"),
    ...csiMethod("NodePublishVolume"),
    ...csiMethod("NodeUnpublishVolume"),
  },
};

/** How kubelet learns of it. */
export const registrationService: ServiceSpec = {
  name: "pluginregistration.Registration",
  methods: {
    GetInfo: { request: registration("InfoRequest"), response: registration("PluginInfo") },
    NotifyRegistrationStatus: {
      request: registration("RegistrationStatus"),
      response: registration("RegistrationStatusResponse"),
    },
  },
};

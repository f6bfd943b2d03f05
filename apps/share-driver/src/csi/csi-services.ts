import type { Log } from "@quartermaster/runtime";
import { z } from "zod";

import { DRIVER_NAME } from "../settings.ts";
import { parseUnpublish } from "../volume/target-path.ts";
import { parseVolumeRequest } from "../volume/volume-request.ts";
import type { Volumes } from "../volume/volumes.ts";
import { identityService, nodeService, registrationService } from "./service-spec.ts";
import type { ServedService } from "./socket-server.ts";

/** Version of the driver, as kubelet shows it. */
const VENDOR_VERSION = "0.0.0";

export interface DriverFacts {
  readonly nodeName: string;
  /** kubelet's `--root-dir`. */
  readonly kubeletDirectory: string;
  readonly volumes: Pick<Volumes, "publish" | "unpublish">;
}

/** The two services that kubelet calls on the plugin's own socket. No capability is announced: volumes are ephemeral only. */
export function csiServices({ nodeName, kubeletDirectory, volumes }: DriverFacts): readonly ServedService[] {
  return [
    {
      spec: identityService,
      responses: {
        GetPluginInfo: () => ({ name: DRIVER_NAME, vendorVersion: VENDOR_VERSION }),
        GetPluginCapabilities: () => ({}),
        Probe: () => ({ ready: true }),
      },
    },
    {
      spec: nodeService,
      responses: {
        NodeGetInfo: () => ({ nodeId: nodeName }),
        NodeGetCapabilities: () => ({}),
        NodePublishVolume: async (request) => {
          await volumes.publish(() => parseVolumeRequest(request, kubeletDirectory));
          return {};
        },
        NodeUnpublishVolume: async (request) => {
          const { volumeId, target } = parseUnpublish(request, kubeletDirectory);
          await volumes.unpublish(volumeId, target);
          return {};
        },
      },
    },
  ];
}

export interface Registration {
  /** Path of the plugin's own socket, as kubelet sees it. */
  readonly endpoint: string;
  readonly log: Log;
  readonly onStatus: (isRegistered: boolean) => void;
}

const registrationStatus = z.object({
  pluginRegistered: z.boolean().default(false),
  error: z.string().default(""),
});

/** The service on the socket in kubelet's directory of registrations. */
export function registrationServices({ endpoint, log, onStatus }: Registration): readonly ServedService[] {
  return [
    {
      spec: registrationService,
      responses: {
        GetInfo: () => ({ type: "CSIPlugin", name: DRIVER_NAME, endpoint, supportedVersions: ["1.0.0"] }),
        NotifyRegistrationStatus: (request) => {
          const { pluginRegistered, error } = registrationStatus.parse(request);
          onStatus(pluginRegistered);
          if (pluginRegistered) log.info("registered with kubelet");
          else log.error("kubelet refused the registration", { reason: error });
          return {};
        },
      },
    },
  ];
}

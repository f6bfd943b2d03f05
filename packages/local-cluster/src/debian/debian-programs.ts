import type { ProgramImageRequest } from "./provide-program-image.ts";

/** Programs whose official images cannot be had everywhere, as Debian packages them: what their images are made of, without names. */
export const debianPrograms = {
  prometheus: { packageName: "prometheus", program: "usr/bin/prometheus", user: "65534" },
  alertmanager: {
    packageName: "prometheus-alertmanager",
    program: "usr/bin/prometheus-alertmanager",
    // Templates of its messages, without which it does not start.
    folders: ["usr/share/prometheus/alertmanager"],
    user: "65534",
  },
} as const satisfies Readonly<Record<string, Omit<ProgramImageRequest, "name">>>;

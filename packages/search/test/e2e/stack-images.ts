import { provideProgramImage } from "@quartermaster/testkit";

import { stackImages } from "../../src/model/read-monitoring.ts";

/** Debian's Prometheus and Alertmanager under the names that a standalone stack asks for by default; Grafana's cannot be had. */
export async function provideStackImages(): Promise<readonly string[]> {
  const images = [
    { name: stackImages.prometheus, packageName: "prometheus", program: "usr/bin/prometheus" },
    {
      name: stackImages.alertmanager,
      packageName: "prometheus-alertmanager",
      program: "usr/bin/prometheus-alertmanager",
    },
  ];
  const made: string[] = [];
  for (const image of images) made.push((await provideProgramImage({ ...image, user: "65534" })).folder);
  return made;
}

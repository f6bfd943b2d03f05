import { debianPrograms, provideProgramImage } from "@quartermaster/testkit";

import { stackImages } from "../../src/model/read-monitoring.ts";

/** Debian's Prometheus and Alertmanager under the names that a standalone stack requests by default; Grafana's cannot be had. */
export async function provideStackImages(): Promise<readonly string[]> {
  const made: string[] = [];
  for (const part of ["prometheus", "alertmanager"] as const)
    made.push((await provideProgramImage({ ...debianPrograms[part], name: stackImages[part] })).directory);
  return made;
}

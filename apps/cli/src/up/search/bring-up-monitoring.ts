import { debianPrograms, progressPrinter, provideProgramImage } from "@quartermaster/local-cluster";
import { stackImages } from "@quartermaster/search/offline";

import type { CommandContext } from "../../command.ts";
import { makeProgramImage } from "../install-driver.ts";
import { kubectlIn } from "../kubectl.ts";
import type { SearchSample } from "./search-samples.ts";

/** The word for `WITH=`. */
export const monitoringWord = "monitoring";

/** Folders of the images that monitoring needs: our exporter, and Debian's Prometheus and Alertmanager under the official names. */
export async function monitoringImages(): Promise<readonly string[]> {
  const made = [await makeProgramImage("search-exporter")];
  for (const part of ["prometheus", "alertmanager"] as const) {
    const report = progressPrinter(process.stderr);
    const image = await provideProgramImage({ ...debianPrograms[part], name: stackImages[part], report });
    made.push(image.folder);
  }
  return made;
}

/** Switches monitoring on, waits until the pods are ready, and says how to look. Without Grafana, whose image is not made here. */
export async function bringUpMonitoring(
  folder: string,
  { resource, namespace, name }: SearchSample,
  { terminal }: Pick<CommandContext, "terminal">,
): Promise<void> {
  const kubectl = kubectlIn(folder);
  const monitoring = { enable: true, scrapeInterval: "15s", stack: { grafana: { enable: false } } };
  const patch = JSON.stringify({ spec: { general: { monitoring } } });
  const object = [resource, name, "-n", namespace];
  await kubectl(["patch", ...object, "--type=merge", "-p", patch]);
  await kubectl(["wait", ...object, "--for=condition=MonitoringReady", "--timeout=180s"]);
  terminal.write(`
Search cluster ${namespace}/${name} is monitored; its Prometheus and Alertmanager run. Figures begin within a minute:

    npx qm search dashboards ${name} -n ${namespace} --since 10m -o overview.html
`);
}

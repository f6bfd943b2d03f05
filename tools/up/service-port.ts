import { renameSync, writeFileSync } from "node:fs";

import { reachPods } from "@quartermaster/local-cluster";

import { kubectlIn } from "./programs.ts";

// `node service-port.ts <directory of the cluster> <namespace> <Service> <port> <file>`: opens a port of this machine's loopback that
// leads to a Service, and writes its number into the file once it is open. The Service is looked up for each connection: one that
// was created again has another address.
const [directory = "", namespace = "", service = "", port = "", file = ""] = process.argv.slice(2);
const reach = await reachPods(directory);
const kubectl = kubectlIn(directory);
const { port: local } = await reach.localPort(async () => {
  const found = ["get", "service", service, "-n", namespace, "-o", "jsonpath={.spec.clusterIP}"];
  return { host: await kubectl(found), port: Number(port) };
});
// By a rename: a reader of the file sees the whole number.
writeFileSync(`${file}.new`, String(local));
renameSync(`${file}.new`, file);

import { renameSync, writeFileSync } from "node:fs";

import { reachPods } from "@quartermaster/local-cluster";

// `node service-port.ts <folder of the cluster> <address> <port> <file>`: opens a port of this machine's loopback that leads to a Service,
// and writes its number into the file once it is open.
const [folder = "", host = "", port = "", file = ""] = process.argv.slice(2);
const reach = await reachPods(folder);
const { port: local } = await reach.localPort({ host, port: Number(port) });
// By a rename: a reader of the file sees the whole number.
writeFileSync(`${file}.new`, String(local));
renameSync(`${file}.new`, file);

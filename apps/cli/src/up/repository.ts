import { join } from "node:path";

/** The folder of this repository: `make up` takes the operator, its manifests and the sample from there. */
export const repository: string = join(import.meta.dirname, "../../../..");

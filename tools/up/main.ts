import { realContext } from "../real-context.ts";
import { bringUp } from "./bring-up.ts";

// No signal: Ctrl-C ends this process, and the guardian of a cluster that is only half started clears it away.
process.exitCode = await bringUp(process.argv.slice(2), realContext());

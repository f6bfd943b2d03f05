import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { bundleProgram } from "@quartermaster/tools/bundle";

const repository = join(import.meta.dirname, "../..");

/** Oldest Node that runs `qm`: undici asks for it. */
const oldestNode = [22, 19] as const;

/**
 * Writes `kubectl-qm-<version>.tgz` into the directory and returns its path: `qm` in one file, without dependencies and install scripts.
 * The same sources give the same bytes.
 */
export async function writeNpmPackage(directory: string, version: string): Promise<string> {
  const staging = mkdtempSync(join(tmpdir(), "qm-npm-"));
  try {
    await bundleProgram({
      entryPoint: join(repository, "apps/cli/src/main.ts"),
      outfile: join(staging, "qm.cjs"),
      // A module loads all that it imports before its first line. CommonJS loads what a command needs.
      format: "cjs",
      target: `node${oldestNode.join(".")}`,
      start: refuseOlderNode,
      isMinified: true,
    });
    copyFileSync(join(repository, "LICENSE"), join(staging, "LICENSE"));
    writeFileSync(join(staging, "README.md"), readme);
    writeFileSync(join(staging, "package.json"), `${JSON.stringify(manifest(version), undefined, 2)}\n`);
    mkdirSync(directory, { recursive: true });
    const args = ["pack", "--silent", "--ignore-scripts", "--pack-destination", directory];
    const file = execFileSync("npm", args, { cwd: staging, encoding: "utf8" }).trim();
    return join(directory, file);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** Runs before anything that an older Node does not have. */
const refuseOlderNode = `{const[a=0,b=0]=process.versions.node.split(".").map(Number);if(a<${oldestNode[0]}||a===${oldestNode[0]}&&b<${oldestNode[1]}){process.stderr.write("error: qm needs Node ${oldestNode.join(".")} or later; this is Node "+process.versions.node+".\\n");process.exit(2)}}\n`;

function manifest(version: string): object {
  return {
    name: "kubectl-qm",
    version,
    description: "qm, the command line of Quartermaster; also kubectl qm",
    license: "Apache-2.0",
    bin: { qm: "qm.cjs", "kubectl-qm": "qm.cjs" },
    files: ["qm.cjs"],
    engines: { node: `>=${oldestNode.join(".")}` },
  };
}

const readme = `# kubectl-qm

\`qm\` is the command line of Quartermaster, an operator suite for Kubernetes: it packs manifests into install plans, explains what plans,
bundles, licenses and search clusters wait for, and shows what an edit would do.

    npm install --global kubectl-qm
    qm help
    kubectl qm plan status web

It needs Node ${oldestNode.join(".")} or later, and finds the cluster as kubectl does.
`;

import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

import { parseSync } from "oxc-parser";
import { z } from "zod";

const manifestSchema = z.object({
  name: z.string(),
  exports: z.record(z.string(), z.string()).optional(),
});

/** Which file imports which: finds the tests that a change of a source file may fail. */
export class ImportGraph {
  readonly #root: string;
  /** Importers by what they import. */
  readonly #importers = new Map<string, Set<string>>();
  readonly #entries: ReadonlyMap<string, string>;

  constructor(root: string) {
    this.#root = root;
    this.#entries = entriesOf(root);
    for (const file of globSync("{packages,apps,deploy}/**/{src,test}/**/*.ts", { cwd: root }))
      this.#read(file);
  }

  /** Test files of a level that import the file, directly or not, the nearest first. */
  testsOf(file: string, level: string): readonly string[] {
    const seen = new Set([file]);
    // A set iterates over what is added meanwhile, in the order of its distance.
    for (const each of seen) for (const importer of this.#importers.get(each) ?? []) seen.add(importer);
    return [...seen].filter((each) => each.endsWith(".test.ts") && each.includes(`/test/${level}/`));
  }

  #read(file: string): void {
    const text = readFileSync(join(this.#root, file), "utf8");
    const { module } = parseSync(file, text);
    const requests = [
      // A literal, in its quotes: what is seldom needed is imported when it is.
      ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1)),
      ...module.staticImports
        .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
        .map(({ moduleRequest }) => moduleRequest.value),
      ...module.staticExports.flatMap(({ entries }) =>
        entries.flatMap(({ moduleRequest, isType }) => (isType ? [] : (moduleRequest?.value ?? []))),
      ),
    ];
    for (const request of requests) {
      const target = request.startsWith(".")
        ? normalize(join(dirname(file), request))
        : this.#entries.get(request);
      if (target === undefined) continue;
      const importers = this.#importers.get(target) ?? new Set();
      this.#importers.set(target, importers.add(file));
    }
  }
}

/** Files behind the names of our packages, e.g. `@quartermaster/search/offline`. */
function entriesOf(root: string): ReadonlyMap<string, string> {
  const entries = globSync("{packages,apps}/*/package.json", { cwd: root }).flatMap((path) => {
    const { name, exports = {} } = manifestSchema.parse(JSON.parse(readFileSync(join(root, path), "utf8")));
    return Object.entries(exports).map(
      ([key, target]) =>
        [normalize(`${name}/${key}`).replace(/\/$/, ""), join(dirname(path), target)] as const,
    );
  });
  return new Map(entries);
}

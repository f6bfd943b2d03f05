import type { Live } from "@quartermaster/runtime";
import { type ClusterObject, readDeclaration } from "@quartermaster/search/offline";

import type { CommandContext } from "../command.ts";
import { CliError } from "../errors.ts";
import { exitCode } from "../exit-code.ts";
import { ourDocuments } from "./our-documents.ts";
import { readInput } from "./read-input.ts";

/** The one search cluster in a file, with defaults filled in; other objects beside it are left alone. */
export async function searchClusterOfFile(
  file: string,
  { readStandardInput }: CommandContext,
): Promise<Live<ClusterObject>> {
  const { documents, faults } = await readInput([file], readStandardInput);
  if (faults.length > 0) throw new CliError(faults.join("\n"));
  const { others } = ourDocuments(documents);
  const read = others.map(({ value, source }) => ({ source, ...readDeclaration(value) }));
  const malformed = read.flatMap((each) =>
    each.kind === "malformed" ? each.faults.map((fault) => `${each.source}: ${fault}`) : [],
  );
  if (malformed.length > 0) throw new CliError(malformed.join("\n"));
  const found = read.flatMap((each) => (each.kind === "read" ? [each.object] : []));
  const [first, ...more] = found;
  if (first === undefined)
    throw new CliError(`${file}: no OpenSearchCluster and no ElasticsearchCluster found`, exitCode.notFound);
  if (more.length === 0) return first;
  const names = found.map(({ metadata }) => metadata.name).join(", ");
  throw new CliError(
    `${file}: there are several search clusters in it: ${names}; give a file with one of them`,
  );
}

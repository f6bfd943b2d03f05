import { relative } from "node:path";

import { repository } from "../repository.ts";
import type { SearchSample } from "./search-samples.ts";

/** Where the search cluster is reached. */
export interface SearchPlace extends Pick<
  SearchSample,
  "namespace" | "name" | "resource" | "engine" | "file"
> {
  /** File with the authority of its certificate. */
  readonly caPath: string;
  /** Port of this machine that leads to it. */
  readonly port: string;
}

/** The last words of `make up WITH=search`. A test runs each command. The password comes from the Secret and is no argument of curl. */
export function trySearch({ namespace, name, caPath, port, ...sample }: SearchPlace): string {
  const login = `kubectl -n ${namespace} get secret ${name}-admin-password -o go-template='user = "{{.data.username | base64decode}}:{{.data.password | base64decode}}"'`;
  const curl = `curl -sS -K - --cacert ${caPath} --connect-to ::127.0.0.1:${port}`;
  const address = `https://${name}.${namespace}.svc:9200/books`;
  return `
Search cluster ${namespace}/${name} is green. Index a document, then search it:

    ${login} | ${curl} -X PUT '${address}/_doc/1?refresh=true' -H 'content-type: application/json' -d '{"title":"Emma"}'
    ${login} | ${curl} '${address}/_search?q=title:emma'

  see its nodes, and what an edit would do
    npx qm search status ${name} -n ${namespace}
    npx qm search plan -f ${relative(repository, sample.file)}
${sample.engine === "elasticsearch" ? licenseHint(`${sample.resource} ${name} -n ${namespace}`) : elasticsearchHint}`;
}

/** Under a trial everything works for 30 days. */
function licenseHint(cluster: string): string {
  return `
  see its licence
    kubectl get ${cluster} -o jsonpath='{.status.license.type} until {.status.license.expiryTime}{"\\n"}'
`;
}

const elasticsearchHint = `
  an Elasticsearch under a trial licence as well: make down, then make up WITH=search,elasticsearch
`;

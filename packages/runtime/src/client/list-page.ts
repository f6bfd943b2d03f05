import { ApiError } from "../errors.ts";
import { apiVersionOf, type Kind, nameOfKind } from "../object/kind.ts";
import type { KubeObject } from "../object/kube-object.ts";
import type { ApiRequest } from "../transport/request.ts";
import type { ListOptions, ObjectPage } from "./client.ts";
import { collectionPath, withQuery } from "./paths.ts";
import { about, limitsOf } from "./requests.ts";

/** What one page asks for. */
export interface PageOptions extends ListOptions {
  readonly continueToken?: string;
}

/** Objects per page by default. */
export const defaultPageSize = 500;

/** GET of one page. */
export function listRequest(kind: Kind, options: PageOptions): ApiRequest {
  const { namespace, continueToken, pageSize = defaultPageSize } = options;
  const path = withQuery(collectionPath(kind, namespace), {
    limit: String(pageSize),
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    // The token carries the version of the list; both at once are refused.
    ...(continueToken === undefined ? freshness(options) : { continue: continueToken }),
  });
  const ref = namespace === undefined ? {} : { namespace };
  return { method: "GET", verb: "list", path, ...about(kind, ref), ...limitsOf(options) };
}

/** Without the match rule a limit would turn "at least as new as" into "exactly". */
function freshness({ resourceVersion }: ListOptions): Readonly<Record<string, string | undefined>> {
  return resourceVersion === undefined ? {} : { resourceVersion, resourceVersionMatch: "NotOlderThan" };
}

interface ListAnswer {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly object[] | null;
}

/** The page in an answer. Items of built-in kinds come without apiVersion and kind: they are filled in. */
export function pageOf<O extends KubeObject>(kind: Kind<O>, answer: unknown): ObjectPage<O> {
  const { items, metadata } = listAnswer(kind, answer);
  const { resourceVersion = "", continue: continueToken = "" } = metadata ?? {};
  const naming = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server vouches for the kind of the items
    items: (items ?? []).map((item) => ("kind" in item ? item : { ...naming, ...item }) as O),
    resourceVersion,
    ...(continueToken === "" ? {} : { continueToken }),
  };
}

/** Anything else, taken for an empty list, would mean that every object is gone. */
function listAnswer(kind: Kind, answer: unknown): ListAnswer {
  if (typeof answer === "object" && answer !== null && Object.hasOwn(answer, "items")) return answer;
  throw new ApiError(`list ${nameOfKind(kind)}: not a list`, { class: "transient", mayHaveActed: false });
}

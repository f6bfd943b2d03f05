import { ApiError } from "../errors.ts";
import { apiVersionOf, type Kind, nameOfKind } from "../object/kind.ts";
import type { KubeObject, Live } from "../object/kube-object.ts";
import type { ApiRequest } from "../transport/api-request.ts";
import { responseTooLarge } from "../transport/failure-error.ts";
import type { ListOptions, ObjectPage } from "./client.ts";
import { about, collectionPath, limitsOf, metadataOnly, withQuery } from "./requests.ts";

type FetchPage<O> = (options: PageOptions) => Promise<ObjectPage<O>>;

/**
 * All objects of one moment, page by page as they are consumed. Objects so large that a page exceeds our limit are fetched in
 * smaller pages. A consumer slower than the server's history gets `gone` and has to start again.
 */
export async function* listAll<O>(fetchPage: FetchPage<O>, options: ListOptions): AsyncGenerator<O> {
  let pageSize = options.pageSize ?? defaultPageSize;
  let continueToken: string | undefined;
  do {
    const page = await fetchFitting(fetchPage, { ...options, continueToken, pageSize });
    if (page === undefined) {
      pageSize = Math.ceil(pageSize / 4);
      continue;
    }
    yield* page.items;
    ({ continueToken } = page);
    if (continueToken === undefined) return;
  } while (true);
}

/** Undefined when the page was too large and a smaller one may do. */
async function fetchFitting<O>(
  fetchPage: FetchPage<O>,
  options: PageOptions & { readonly pageSize: number },
): Promise<ObjectPage<O> | undefined> {
  try {
    return await fetchPage(options);
  } catch (error) {
    const isTooLarge = error instanceof ApiError && error.reason === responseTooLarge;
    if (isTooLarge && options.pageSize > 1) return undefined;
    throw error;
  }
}

export interface PageOptions extends ListOptions {
  readonly continueToken?: string | undefined;
}

/** Objects per page by default. */
const defaultPageSize = 500;

/** GET of one page. */
export function listRequest(kind: Kind, options: PageOptions): ApiRequest {
  const { namespace, continueToken, pageSize = defaultPageSize, isMetadataOnly = false } = options;
  const path = withQuery(collectionPath(kind, namespace), {
    limit: String(pageSize),
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    // The token carries the version of the list; both together are refused.
    ...(continueToken === undefined ? freshness(options) : { continue: continueToken }),
  });
  const accept = { accept: `${metadataOnly("PartialObjectMetadataList")},application/json` };
  return {
    method: "GET",
    verb: "list",
    path,
    ...about(kind, { namespace }),
    ...(isMetadataOnly ? accept : {}),
    ...limitsOf(options),
  };
}

/** Without the match rule a limit would turn "at least as new as" into "exactly". */
function freshness({ resourceVersion }: ListOptions): Readonly<Record<string, string | undefined>> {
  return resourceVersion === undefined ? {} : { resourceVersion, resourceVersionMatch: "NotOlderThan" };
}

interface ListResponse {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly object[] | null;
}

/** The page in a response. Items of built-in kinds come without apiVersion and kind: they are filled in. */
export function pageOf<O extends KubeObject>(kind: Kind<O>, response: unknown): ObjectPage<Live<O>> {
  const { items, metadata } = listResponse(kind, response);
  const { resourceVersion = "", continue: continueToken = "" } = metadata ?? {};
  const naming = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server vouches for the kind of the items
    items: (items ?? []).map((item) => ("kind" in item ? item : { ...naming, ...item }) as Live<O>),
    resourceVersion,
    ...(continueToken === "" ? {} : { continueToken }),
  };
}

/** The same page with nothing but metadata: a server that cannot cut objects sends them whole. */
export function cutPage<O extends KubeObject>(kind: Kind<O>, page: ObjectPage<Live<O>>): ObjectPage<Live<O>> {
  return { ...page, items: page.items.map((item) => cutObject(kind, item)) };
}

/** An object without anything but metadata. What the server has cut says `PartialObjectMetadata` of itself. */
export function cutObject<O extends KubeObject>(kind: Kind<O>, { metadata }: Live<O>): Live<O> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- callers that request metadata only use nothing else
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata } as Live<O>;
}

/** Anything else, taken for an empty list, would mean that every object no longer exists. */
function listResponse(kind: Kind, response: unknown): ListResponse {
  if (typeof response === "object" && response !== null && Object.hasOwn(response, "items")) return response;
  throw new ApiError(`list ${nameOfKind(kind)}: not a list`, { class: "transient", mayHaveActed: false });
}

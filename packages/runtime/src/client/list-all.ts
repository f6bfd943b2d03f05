import { ApiError } from "../errors.ts";
import { responseTooLarge } from "../transport/failure-error.ts";
import type { ListOptions, ObjectPage } from "./client.ts";
import { defaultPageSize, type PageOptions } from "./list-page.ts";

type FetchPage<O> = (options: PageOptions) => Promise<ObjectPage<O>>;

/**
 * All objects of one moment, page by page as they are consumed. Objects so large that a page exceeds our limit are fetched in
 * smaller pages. A consumer slower than the server's history gets `gone` and has to start again.
 */
export async function* listAll<O>(fetchPage: FetchPage<O>, options: ListOptions): AsyncGenerator<O> {
  let pageSize = options.pageSize ?? defaultPageSize;
  let continueToken: string | undefined;
  do {
    const where = continueToken === undefined ? {} : { continueToken };
    const page = await fetchFitting(fetchPage, { ...options, ...where, pageSize });
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

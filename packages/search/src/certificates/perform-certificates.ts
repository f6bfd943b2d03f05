import { unreachable } from "@quartermaster/runtime";

import { EngineError } from "../engine/engine-error.ts";
import type { SearchAction } from "../search-action.ts";
import type { Subject } from "../subject.ts";
import { issueLeaf } from "./issue.ts";

type CertificateAction = Extract<SearchAction, { readonly do: "issueLeaf" | "reloadCertificates" }>;

/** Carries out one write of the certificates lane. */
export async function performCertificates(action: CertificateAction, subject: Subject): Promise<void> {
  switch (action.do) {
    case "issueLeaf":
      await issueLeaf(action, subject.cluster, { ctx: subject.ctx, nowMs: subject.nowMs() });
      return;
    case "reloadCertificates":
      await reloadCertificates(action, subject);
      return;
    default:
      unreachable(action);
  }
}

/** Tells a node to read its certificates again. Neither an answer nor a refusal says what it serves: the sample that follows does. */
async function reloadCertificates(
  { node, layers }: Extract<SearchAction, { readonly do: "reloadCertificates" }>,
  { engine, lookAgain }: Subject,
): Promise<void> {
  for (const layer of layers) {
    try {
      await engine().reloadCertificates(node, layer);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
    }
  }
  lookAgain();
}

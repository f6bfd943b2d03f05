import type { SecurityDocuments } from "../engine/engine-client.ts";
import type { Fact } from "../engine/engine-facts.ts";

/** What is known of the security plugin's content. */
export interface SecuritySeen {
  /** Whether the index with users and roles is there, with every document. */
  readonly hasIndex: Fact<boolean>;
  /** Nodes that serve clients: the content has reached them. */
  readonly serving: ReadonlySet<string>;
  /** What the author's files say; undefined without such a Secret. */
  readonly files: ReadFiles | undefined;
  readonly applied: AppliedContent;
}

/** The author's files, read. */
export interface ReadFiles {
  readonly documents: Partial<SecurityDocuments>;
  /** Files that cannot be read, with why. */
  readonly faults: readonly string[];
  /** The Secret that should hold them does not exist. */
  readonly isMissing?: true;
}

/** What was applied last; kept in a Secret, because an engine gives no hashes back. */
export interface AppliedContent {
  /** Digest of each entity by `<type>/<name>`. */
  readonly entities: Readonly<Record<string, string>>;
  /** Hashes of passwords by user name, each with the version of the Secret that it was made from. */
  readonly hashes: Readonly<Record<string, { readonly from: string; readonly hash: string }>>;
  /** The index of the audit log was made to fit its copies to the nodes; once is enough, later settings are the author's. */
  readonly isAuditFitted?: boolean;
}

/** Nothing applied yet. */
export const NOTHING_APPLIED: AppliedContent = { entities: {}, hashes: {} };

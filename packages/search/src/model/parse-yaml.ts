import { type Document, isMap, isScalar, parseDocument, visit } from "yaml";

/** How text is read. */
export interface YamlOptions {
  readonly schema: "core" | "failsafe";
  /** Aliases that may stand for something else; what they expand to is limited with it. */
  readonly maxAliasCount: number;
}

/**
 * Reads YAML that an author wrote; undefined if it is none, or says a key twice. Callers limit its size first. The library's own check
 * of keys compares each with each: 700 KB of them held the event loop for minutes. What it reports is dropped: it may quote a secret.
 *
 * @example
 * const read = parseYaml("[a, b]", { schema: "failsafe", maxAliasCount: 0 }); // { value: ["a", "b"] }
 */
export function parseYaml(
  text: string,
  { schema, maxAliasCount }: YamlOptions,
): { readonly value: unknown } | undefined {
  try {
    const document = parseDocument(text, {
      schema,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: "silent",
    });
    if (document.errors.length > 0 || hasDoubles(document)) return undefined;
    const value: unknown = document.toJS({ maxAliasCount });
    return { value };
  } catch {
    return undefined;
  }
}

function hasDoubles(document: Document.Parsed): boolean {
  let isFound = false;
  visit(document, {
    Map: (_, node) => {
      const names = node.items.map(({ key }) => nameOf(key));
      isFound ||= new Set(names).size < names.length;
      return isFound ? visit.BREAK : undefined;
    },
  });
  return isFound;
}

/** Mappings and lists as keys are known on their own: `toJS` makes text of them, and callers refuse what is no mapping of text. */
function nameOf(key: unknown): unknown {
  if (isScalar(key)) return String(key.value);
  return isMap(key) ? key : String(key);
}

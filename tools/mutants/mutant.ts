/** A change of one line that some test has to notice. */
export interface Mutant extends Omit<MutantSuite, "topic">, Change {}

/** What mutants of one topic have in common. */
export interface MutantSuite {
  /** First part of their names. */
  readonly topic: string;
  /** Folder below `packages`. */
  readonly package: string;
  /** What pure rules do must show at the unit level; `integration` is for what only a server can answer. */
  readonly level: "unit" | "integration";
  /** Beginnings of the names of the test files that should notice, in the package's folder of that level. */
  readonly tests: readonly string[];
}

interface Change {
  /** What goes wrong; unique within the topic. */
  readonly name: string;
  /** Occurs exactly once in the package's `src`, in whichever file: files move, lines stay. */
  readonly find: string;
  /** Takes the place of `find`; empty removes it. */
  readonly replace: string;
}

/** The mutants of a topic; each is called `<topic>/<what goes wrong>`. */
export function mutantsOf({ topic, ...suite }: MutantSuite, changes: readonly Change[]): readonly Mutant[] {
  return changes.map(({ name, ...change }) => ({ ...suite, ...change, name: `${topic}/${name}` }));
}

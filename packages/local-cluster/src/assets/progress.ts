/** A component being fetched, or one or several being built at once. */
export interface AssetStep {
  readonly action: "building" | "downloading";
  readonly component: string;
  /** Built by the same call of Go. */
  readonly others?: readonly string[];
  readonly version: string;
  /** This is the `position`-th of `total` components that were not there; the others follow it. */
  readonly position: number;
  readonly total: number;
  /** What follows in the same line of work. */
  readonly next?: string;
  /** On two idle cores with an empty Go cache; downloads have none. */
  readonly expectedSeconds?: number;
}

/** What happens while binaries are brought together. `advanced` comes about once a second. */
export type ProgressEvent =
  | { readonly kind: "started"; readonly step: AssetStep }
  | {
      readonly kind: "advanced";
      readonly step: AssetStep;
      readonly elapsedMs: number;
      readonly receivedBytes?: number;
    }
  | { readonly kind: "finished"; readonly step: AssetStep; readonly elapsedMs: number }
  | { readonly kind: "failed"; readonly step: AssetStep; readonly reason: string }
  | { readonly kind: "note"; readonly text: string };

/** Receives progress; must not throw. */
export type ProgressReport = (event: ProgressEvent) => void;

/** One line for a person, without line end. */
export function describeProgress(event: ProgressEvent): string {
  switch (event.kind) {
    case "started":
      return `${nameStep(event.step)}${expectation(event.step)}${outlook(event.step)}`;
    case "advanced":
      return `${nameStep(event.step)} … ${clock(event.elapsedMs)}${received(event.receivedBytes)}${outlook(event.step)}`;
    case "finished":
      return `${nameStep(event.step)}: done in ${clock(event.elapsedMs)}`;
    case "failed":
      return `${nameStep(event.step)}: ${event.reason}`;
    case "note":
      return event.text;
    default:
      return unreachable(event);
  }
}

function nameStep({ action, component, others = [], version, position, total }: AssetStep): string {
  const last = others.length === 0 ? "" : `-${position + others.length}`;
  return `${action} ${[component, ...others].join(", ")} ${version} (${position}${last} of ${total})`;
}

function expectation({ expectedSeconds }: AssetStep): string {
  return expectedSeconds === undefined ? "" : `, about ${clock(expectedSeconds * 1000)}`;
}

function outlook({ next }: AssetStep): string {
  return next === undefined ? "" : `, next: ${next}`;
}

function received(bytes: number | undefined): string {
  return bytes === undefined ? "" : `, ${Math.round(bytes / 1_000_000)} MB`;
}

function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function unreachable(event: never): never {
  throw new Error(`unknown progress event ${JSON.stringify(event)}`);
}

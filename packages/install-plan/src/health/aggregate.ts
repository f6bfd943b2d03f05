/** Everything an object of a plan can be, worst first. */
const worstToBest = [
  "Failed",
  "Conflict",
  "Missing",
  "Terminating",
  "Unknown",
  "InProgress",
  "Waiting",
  "Drifted",
  "Suspended",
  "Ready",
] as const;

/** The state of one object as a plan sees it. */
export type ResourceState = (typeof worstToBest)[number];

const ranks: ReadonlyMap<ResourceState, number> = new Map(worstToBest.map((state, rank) => [state, rank]));

/** The worse of two states. */
export function worse(one: ResourceState, other: ResourceState): ResourceState {
  return rankOf(one) <= rankOf(other) ? one : other;
}

/** The same items, the worst first; items of equal state keep their order. */
export function worstFirst<T extends { readonly state: ResourceState }>(items: readonly T[]): readonly T[] {
  return items.toSorted((one, other) => rankOf(one.state) - rankOf(other.state));
}

/** Whether a stage may go on past an object in this state. */
export function opensGate(state: ResourceState): boolean {
  return state === "Ready" || state === "Suspended";
}

function rankOf(state: ResourceState): number {
  return ranks.get(state) ?? 0;
}

import type { InstallPlan } from "@quartermaster/api";
import type { LabelRequirement } from "@quartermaster/runtime";

import { matchesLabels, parseLabelSelector } from "../manifest/transformation-problems.ts";
import { hasStarted } from "../model/plan-status.ts";
import { SlotSet } from "./slot-set.ts";

type Entries = NonNullable<NonNullable<InstallPlan["status"]>["replaces"]>;

/** The plans that a plan declared to take over from before its first write: no one joins them later. Undefined before that. */
export function fixedSet(plan: InstallPlan): Entries | undefined {
  return plan.status?.replaces ?? (hasStarted(plan) ? [] : undefined);
}

/** Plans that are ignored, because their authors may not do what they declare. */
export interface Muted {
  /** Slots of plans whose `spec.replaces` does not count. */
  readonly settings: Pick<SlotSet, "has">;
  /** Uids of plans whose `status.replaces` does not count. */
  readonly claims: ReadonlySet<string>;
}

const none: Muted = { settings: new SlotSet(), claims: new Set() };

/** A selector in `spec.replaces`, for all plans that have the same one. */
export interface PlanSelector {
  readonly requirements: readonly LabelRequirement[];
  /** Plans that it matches; none that are superseded. */
  readonly matched: SlotSet;
  /** Plans that have it. */
  readonly sources: Set<number>;
}

/**
 * Who names, selects and claims whom among the plans of one namespace. Each name has a slot, also the name of a plan that does
 * not exist. A change of one plan costs one evaluation of each selector, so the graph is kept from one reconcile to the next.
 */
export class PlanGraph {
  readonly #slots = new Map<string, number>();
  readonly #names: string[] = [];
  readonly #plans = new Map<number, InstallPlan>();
  readonly #selectors = new Map<string, PlanSelector>();
  /** Plans without a fixed set, by the names in `spec.replaces`. */
  readonly #namers = new Map<string, Set<number>>();
  /** Plans by the names in `status.replaces`. */
  readonly #holders = new Map<string, Set<number>>();
  /** The same by uid. */
  readonly #claimants = new Map<string, Set<number>>();
  /** Superseded plans by the uid of the one that replaced them. */
  readonly #ancestors = new Map<string, Set<number>>();

  #muted: Muted = none;

  constructor(plans: readonly InstallPlan[] = []) {
    for (const plan of plans) this.put(plan);
  }

  /** Whether so many names are in it of plans that no longer exist that a new graph is due. */
  get isWorn(): boolean {
    return this.#names.length > 1_000 + 200 * this.#plans.size;
  }

  /** All selectors that some plan has. */
  get selectors(): Iterable<PlanSelector> {
    return this.#selectors.values();
  }

  get plans(): Iterable<InstallPlan> {
    return this.#plans.values();
  }

  /** Result of `look` without some of the plans. */
  without<T>(muted: Muted, observation: () => T): T {
    this.#muted = muted;
    try {
      return observation();
    } finally {
      this.#muted = none;
    }
  }

  /** Names in a plan's spec; none when the plan is ignored. */
  namesIn({ metadata, spec }: InstallPlan): readonly string[] {
    return this.#muted.settings.has(this.slotOf(metadata.name))
      ? []
      : (spec.replaces?.plans ?? []).map(({ name }) => name);
  }

  /** The plans that have a selector, but for those no one listens to. */
  sourcesOf({ sources }: PlanSelector): readonly number[] {
    return [...sources].filter((slot) => !this.#muted.settings.has(slot));
  }

  /** Takes over what has changed. Objects of stores are never edited: the same object has not changed. */
  sync(plans: readonly InstallPlan[]): void {
    for (const plan of plans) this.put(plan);
    if (this.#plans.size === plans.length) return;
    const present = new Set(plans.map(({ metadata }) => metadata.name));
    for (const [slot, { metadata }] of this.#plans) if (!present.has(metadata.name)) this.#remove(slot);
  }

  put(plan: InstallPlan): void {
    const slot = this.slotOf(plan.metadata.name);
    if (this.#plans.get(slot) === plan) return;
    this.#remove(slot);
    this.#plans.set(slot, plan);
    for (const [index, key] of this.#keysOf(plan)) insert(index, key, slot);
    this.#addSelector(slot, plan.spec.replaces?.selector);
    if (plan.status?.phase === "Superseded") return;
    for (const { requirements, matched } of this.#selectors.values())
      if (matchesLabels(plan, requirements)) matched.add(slot);
  }

  slotOf(name: string): number {
    const known = this.#slots.get(name);
    if (known !== undefined) return known;
    const slot = this.#names.length;
    this.#slots.set(name, slot);
    this.#names.push(name);
    return slot;
  }

  nameAt(slot: number): string {
    return this.#names[slot] ?? "";
  }

  planAt(slot: number): InstallPlan | undefined {
    return this.#plans.get(slot);
  }

  planNamed(name: string): InstallPlan | undefined {
    const slot = this.#slots.get(name);
    return slot === undefined ? undefined : this.#plans.get(slot);
  }

  selectorOf({ metadata, spec }: InstallPlan): PlanSelector | undefined {
    if (this.#muted.settings.has(this.slotOf(metadata.name))) return undefined;
    return this.#selectors.get(spec.replaces?.selector ?? "");
  }

  /** Plans without a fixed set that name this one in their spec. */
  namersOf(slot: number): readonly number[] {
    return [...(this.#namers.get(this.nameAt(slot)) ?? [])].filter(
      (namer) => !this.#muted.settings.has(namer),
    );
  }

  /** Plans whose status names this one as a predecessor. */
  holdersOf(slot: number): Iterable<number> {
    return this.#holders.get(this.nameAt(slot)) ?? [];
  }

  /** Plans whose status names the uid as a predecessor. */
  claimantsOf(uid: string | undefined): readonly InstallPlan[] {
    return this.#plansOf(this.#claimants.get(uid ?? "")).filter(
      ({ metadata }) => !this.#muted.claims.has(metadata.uid ?? ""),
    );
  }

  /** Superseded plans that name the uid as the one that replaced them. */
  ancestorsOf(uid: string | undefined): readonly InstallPlan[] {
    return this.#plansOf(this.#ancestors.get(uid ?? ""));
  }

  #plansOf(slots: ReadonlySet<number> = new Set()): readonly InstallPlan[] {
    const ascending = [...slots].toSorted((one, other) => one - other);
    return ascending.flatMap((slot) => this.#plans.get(slot) ?? []);
  }

  #remove(slot: number): void {
    const plan = this.#plans.get(slot);
    if (plan === undefined) return;
    this.#plans.delete(slot);
    for (const [index, key] of this.#keysOf(plan)) withdraw(index, key, slot);
    for (const { matched } of this.#selectors.values()) matched.delete(slot);
    const { selector = "" } = plan.spec.replaces ?? {};
    const known = this.#selectors.get(selector);
    known?.sources.delete(slot);
    if (known?.sources.size === 0) this.#selectors.delete(selector);
  }

  #keysOf(plan: InstallPlan): readonly (readonly [Map<string, Set<number>>, string])[] {
    const { spec, status } = plan;
    const named = fixedSet(plan) === undefined ? (spec.replaces?.plans ?? []) : [];
    const held = status?.replaces ?? [];
    const replacedBy = status?.phase === "Superseded" ? status.replacedBy?.uid : undefined;
    return [
      ...named.map(({ name }) => [this.#namers, name] as const),
      ...held.map(({ name }) => [this.#holders, name] as const),
      ...held.map((entry) => [this.#claimants, entry.uid ?? ""] as const),
      ...(replacedBy === undefined ? [] : [[this.#ancestors, replacedBy] as const]),
    ];
  }

  #addSelector(slot: number, selector: string | undefined): void {
    if (selector === undefined) return;
    const known = this.#selectors.get(selector) ?? this.#evaluate(selector);
    known?.sources.add(slot);
  }

  #evaluate(selector: string): PlanSelector | undefined {
    const requirements = parseLabelSelector(selector);
    if (requirements === undefined) return undefined;
    const matched = new SlotSet();
    for (const [slot, plan] of this.#plans)
      if (plan.status?.phase !== "Superseded" && matchesLabels(plan, requirements)) matched.add(slot);
    const found = { requirements, matched, sources: new Set<number>() };
    this.#selectors.set(selector, found);
    return found;
  }
}

function insert(index: Map<string, Set<number>>, key: string, slot: number): void {
  const slots = index.get(key);
  if (slots === undefined) index.set(key, new Set([slot]));
  else slots.add(slot);
}

function withdraw(index: Map<string, Set<number>>, key: string, slot: number): void {
  const slots = index.get(key);
  slots?.delete(slot);
  if (slots?.size === 0) index.delete(key);
}

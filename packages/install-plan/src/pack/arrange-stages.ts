import type { Identity } from "../identity.ts";
import { defaultStageOf, defaultStages } from "./default-stage.ts";
import type { PackObject } from "./pack-objects.ts";
import type { WantedStage } from "./packed.ts";

/** As many resources as one stage may have. */
const stageLimit = 500;

/** Objects under the name of their stage. */
export interface ArrangedStage {
  readonly name: string;
  readonly objects: readonly PackObject[];
}

/** Default stages in their order, then the wanted ones in theirs; objects keep their order; large stages become several. */
export function arrangeStages(
  objects: readonly PackObject[],
  wanted: readonly WantedStage[],
): readonly ArrangedStage[] {
  const stages = Map.groupBy(objects, ({ identity }) => stageFor(identity, wanted));
  const order = new Set([...defaultStages, ...wanted.map(({ name }) => name)]);
  return [...order].flatMap((name) => split(name, stages.get(name) ?? []));
}

/** A warning for each selection that no object answers: a slip of the pen would leave its objects where they were. */
export function emptyStages(
  objects: readonly PackObject[],
  wanted: readonly WantedStage[],
): readonly string[] {
  return wanted.flatMap(({ name, select }) =>
    select
      .filter((pattern) => !objects.some(({ identity }) => isSelected(identity, pattern)))
      .map((pattern) => `stage ${name}: no object matches ${pattern}; write kinds as in manifests`),
  );
}

function stageFor(identity: Identity, wanted: readonly WantedStage[]): string {
  const stage = wanted.find(({ select }) => select.some((pattern) => isSelected(identity, pattern)));
  return stage?.name ?? defaultStageOf(identity);
}

function isSelected({ kind, name }: Identity, pattern: string): boolean {
  const slash = pattern.indexOf("/");
  if (slash === -1) return kind === pattern;
  return kind === pattern.slice(0, slash) && matchesGlob(name, pattern.slice(slash + 1));
}

/** Every part between stars in its order, the first at the start, the last at the end. */
function matchesGlob(name: string, glob: string): boolean {
  const [first = "", ...others] = glob.split("*");
  const last = others.pop();
  if (last === undefined) return name === glob;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length)
    return false;
  const middle = name.slice(first.length, name.length - last.length);
  return others.reduce((at, part) => nextAfter(middle, part, at), 0) !== -1;
}

function nextAfter(text: string, part: string, at: number): number {
  const found = at === -1 ? -1 : text.indexOf(part, at);
  return found === -1 ? -1 : found + part.length;
}

function split(name: string, objects: readonly PackObject[]): readonly ArrangedStage[] {
  const count = Math.ceil(objects.length / stageLimit);
  return Array.from({ length: count }, (_, index) => ({
    name: index === 0 ? name : `${name}-${index + 1}`,
    objects: objects.slice(index * stageLimit, (index + 1) * stageLimit),
  }));
}

import { z } from "zod";

/** What the oracle found wrong with an object's status; empty when it tells the truth in good form. */
export type StatusFaults = readonly string[];

/**
 * Judges the status of an object of ours: Ready, Reconciling and Stalled say one thing together, name the generation they
 * were judged by, and speak to people. Knows nothing of the kind.
 */
export function faultsOfStatus(object: unknown): StatusFaults {
  const { metadata, status } = judgedObject.parse(object);
  const { observedGeneration, conditions } = status;
  const output = new Map(conditions.map((condition) => [condition.type, condition.status]));
  return [
    ...REQUIRED.filter((type) => !output.has(type)).map((type) => `there is no condition ${type}`),
    ...EXCLUSIVE.filter((pair) => pair.every((type) => output.get(type) === "True")).map(
      (pair) => `${pair.join(" and ")} at once`,
    ),
    ...faultsOfGeneration(observedGeneration, metadata.generation ?? 0),
    ...(output.size === conditions.length ? [] : ["a condition stands there twice"]),
    ...conditions.flatMap((condition) => faultsOfCondition(condition, observedGeneration)),
  ];
}

const REQUIRED = ["Ready", "Reconciling", "Stalled"] as const;
/** Of each pair at most one may be true. */
const EXCLUSIVE = [
  ["Ready", "Reconciling"],
  ["Ready", "Stalled"],
  ["Reconciling", "Stalled"],
] as const;

function faultsOfGeneration(observed: number | undefined, generation: number): StatusFaults {
  if (observed === undefined) return ["there is no observedGeneration"];
  return observed > generation ? ["observedGeneration is ahead of the object"] : [];
}

type Condition = z.infer<typeof judgedCondition>;

function faultsOfCondition(
  { type, reason, message, observedGeneration }: Condition,
  generation: number | undefined,
): StatusFaults {
  return [
    ...(/^[A-Z][A-Za-z0-9]*$/.test(reason)
      ? []
      : [`${type}: the reason "${reason}" is not one CamelCase word`]),
    ...(observedGeneration === generation
      ? []
      : [`${type}: observedGeneration differs from that of the status`]),
    ...(message.trim() === "" ? [`${type}: the message says nothing`] : []),
    ...(/\p{Cc}/u.test(message) ? [`${type}: the message holds control characters`] : []),
    ...(/\d{4}-\d{2}-\d{2}T\d{2}:/.test(message)
      ? [`${type}: the message holds a time stamp and changes on every retry`]
      : []),
    ...(/\b(attempt|retry|try) #?\d+/i.test(message)
      ? [`${type}: the message holds a counter and changes on every retry`]
      : []),
  ];
}

const judgedCondition = z.object({
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string(),
  message: z.string(),
  lastTransitionTime: z.iso.datetime({ offset: true }),
  observedGeneration: z.int().optional(),
});

const judgedObject = z.object({
  metadata: z.object({ generation: z.int().optional() }),
  status: z.object({ observedGeneration: z.int().optional(), conditions: z.array(judgedCondition) }),
});

import { z } from "zod";

/** What the oracle found wrong with an object's status; empty when it tells the truth in good form. */
export type StatusFaults = readonly string[];

/**
 * Judges the status of an object of ours: Ready, Reconciling and Stalled say one thing together, name the generation they
 * were judged by, and speak to people. Knows nothing of the kind.
 */
export function faultsOfStatus(object: unknown): StatusFaults {
  const { metadata, status } = judgedObject.parse(object);
  const conditions = new Map(status.conditions.map((condition) => [condition.type, condition]));
  const said = (type: string): string | undefined => conditions.get(type)?.status;
  const generation = metadata.generation ?? 0;
  return [
    ...["Ready", "Reconciling", "Stalled"]
      .filter((type) => !conditions.has(type))
      .map((type) => `there is no condition ${type}`),
    ...(said("Ready") === "True" && said("Reconciling") === "True" ? ["Ready and Reconciling at once"] : []),
    ...(said("Ready") === "True" && said("Stalled") === "True" ? ["Ready and Stalled at once"] : []),
    ...(said("Reconciling") === "True" && said("Stalled") === "True"
      ? ["Reconciling and Stalled at once"]
      : []),
    ...(status.observedGeneration === undefined ? ["there is no observedGeneration"] : []),
    ...((status.observedGeneration ?? 0) > generation ? ["observedGeneration is ahead of the object"] : []),
    ...(conditions.size === status.conditions.length ? [] : ["a condition stands there twice"]),
    ...status.conditions.flatMap((condition) => faultsOfCondition(condition, status.observedGeneration)),
  ];
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

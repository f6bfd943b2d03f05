import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

import { z } from "zod";

const directory = join(import.meta.dirname, "../../../../config/dashboards");

const source = z.strictObject({ type: z.literal("prometheus"), uid: z.literal("$datasource") });

/** Units of Grafana that we use. */
const unit = z.enum(["short", "bytes", "percent", "percentunit", "s", "d", "h", "ops", "reqps", "wps"]);

const panel = z.strictObject({
  id: z.int().positive(),
  title: z.string().min(1),
  description: z.string().min(1),
  type: z.enum(["timeseries", "stat"]),
  datasource: source,
  gridPos: z.strictObject({
    x: z.int().min(0),
    y: z.int().min(0),
    w: z.int().min(1).max(24),
    h: z.int().min(1),
  }),
  fieldConfig: z.strictObject({
    defaults: z.looseObject({
      unit,
      mappings: z
        .array(
          z.strictObject({
            type: z.literal("value"),
            options: z.record(
              z.string(),
              z.strictObject({ text: z.string(), color: z.string(), index: z.int() }),
            ),
          }),
        )
        .optional(),
    }),
    overrides: z.array(z.unknown()),
  }),
  options: z.looseObject({}).optional(),
  targets: z
    .array(
      z.strictObject({
        refId: z.string().regex(/^[A-Z]$/),
        datasource: source.optional(),
        expr: z.string().min(1),
        legendFormat: z.string(),
      }),
    )
    .min(1),
});

const variable = z.discriminatedUnion("type", [
  z.strictObject({
    name: z.literal("datasource"),
    type: z.literal("datasource"),
    query: z.literal("prometheus"),
    label: z.string(),
  }),
  z.strictObject({
    name: z.string(),
    type: z.literal("query"),
    datasource: source,
    query: z.strictObject({ query: z.string().regex(/^label_values\(\w+, \w+\)$/), refId: z.string() }),
    includeAll: z.literal(true),
    allValue: z.literal(".*"),
    current: z.strictObject({ text: z.string(), value: z.string() }),
    label: z.string().optional(),
  }),
]);

/** What a Grafana of today takes. Strict: a misspelt field would be ignored by Grafana, silently. */
const dashboardSchema = z.strictObject({
  title: z.string().min(1),
  /** Grafana's limit. */
  uid: z
    .string()
    .max(40)
    .regex(/^[\w-]+$/),
  schemaVersion: z.literal(41),
  tags: z.array(z.string()),
  editable: z.boolean(),
  refresh: z.string(),
  time: z.strictObject({ from: z.string(), to: z.string() }),
  templating: z.strictObject({ list: z.array(variable) }),
  panels: z.array(panel).min(1),
});

/** A dashboard as it is shipped. */
export type Dashboard = z.infer<typeof dashboardSchema>;

/** Every dashboard, by the name of its file. Throws where one is not what Grafana takes. */
export function dashboardFiles(): ReadonlyMap<string, Dashboard> {
  const files = globSync(join(directory, "*.json")).toSorted();
  return new Map(
    files.map((file) => [
      basename(file, ".json"),
      dashboardSchema.parse(JSON.parse(readFileSync(file, "utf8"))),
    ]),
  );
}

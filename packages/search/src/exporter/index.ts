export { Exporter, exporterSeries } from "./exporter.ts";
export type { ExporterInputs, ExporterOptions } from "./exporter.ts";
export {
  exporterConfigFile,
  exporterDirectories,
  exporterPort,
  readExporterConfig,
} from "./exporter-config.ts";
export type { ExporterConfig } from "./exporter-config.ts";

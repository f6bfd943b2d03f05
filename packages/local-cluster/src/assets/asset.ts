import type { Component } from "./component.ts";
import type { GoModule } from "./go-module.ts";

/** A component, the module that makes it and the folder of the cache it belongs into. */
export interface Asset {
  readonly component: Component;
  readonly module: GoModule;
  readonly folder: string;
}

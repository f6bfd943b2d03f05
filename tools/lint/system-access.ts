const systemDirectories = [
  /^(?:packages|apps)\/[^/]+\/src\/system\//,
  /^(?:packages|apps)\/[^/]+\/test\//,
  /^packages\/testkit\//,
  /^deploy\/test\//,
  /^tools\//,
  /^bench\//,
];

/** Globals that are timers. */
export const timerGlobals: ReadonlySet<string> = new Set(["setImmediate", "setInterval", "setTimeout"]);

const members = new Set([
  "Date.now",
  "Math.random",
  "crypto.randomUUID",
  "performance.now",
  "process.env",
  "process.hrtime",
  ...[...timerGlobals].map((name) => `globalThis.${name}`),
]);

const importedNames = new Map<string, ReadonlySet<string>>([
  ["crypto", new Set(["randomUUID"])],
  ["process", new Set(["env", "hrtime"])],
]);

/** Whether the file may reach clock, timers, randomness, ids and environment directly: system directories, tests and their kit, tools, benchmarks. */
export function mayAccessSystem(file: string): boolean {
  return systemDirectories.some((rule) => rule.test(file));
}

/** Whether `object.property` reaches one of them. */
export function isSystemMember(object: string, property: string): boolean {
  return members.has(`${object}.${property}`);
}

/** Whether importing `name` from `module` reaches one of them; every name of the timers modules does. */
export function isSystemImport(module: string, name: string): boolean {
  const builtin = module.replace(/^node:/, "");
  if (builtin === "timers" || builtin === "timers/promises") return true;
  return importedNames.get(builtin)?.has(name) ?? false;
}

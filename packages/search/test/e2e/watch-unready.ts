import { createManager, realSystem } from "@quartermaster/runtime";
import { pods } from "@quartermaster/runtime/kinds";
import { type Access, connect } from "@quartermaster/testkit";

/** Pods that a watch has seen unready or deleted. */
export interface UnreadyPods extends AsyncDisposable {
  /** Names in the order of the events, one for each. */
  readonly unready: readonly string[];
}

/** Watches the pods of a namespace: what happens between two reads is not missed. */
export async function watchUnready(access: Access, namespace: string): Promise<UnreadyPods> {
  await using starting = new AsyncDisposableStack();
  const { transport } = starting.use(connect(access));
  const manager = starting.use(createManager({ transport, system: realSystem(), controllers: [] }));
  const watched = starting.use(manager.informers.acquire({ kind: pods, namespace }));
  const unready: string[] = [];
  watched.addHandler((event) => {
    const { metadata, status } = event.type === "deleted" ? event.old : event.new;
    const isReady = status?.conditions?.some((each) => each.type === "Ready" && each.status === "True");
    if (event.type === "deleted" || isReady !== true) unready.push(metadata.name);
  });
  await watched.synced;
  const stack = starting.move();
  return { unready, [Symbol.asyncDispose]: async () => await stack[Symbol.asyncDispose]() };
}

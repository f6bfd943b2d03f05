import { aborted } from "../system/termination.ts";

/** Decides which replica acts. */
export interface LeaderElector {
  /**
   * Takes part in the election until the signal aborts, then gives leadership back and resolves. `onStart` is called when
   * this replica may act, `onStop` at the moment it may not any more, however often that changes.
   */
  run(signal: AbortSignal, onStart: () => void, onStop: () => void): Promise<void>;
  /**
   * How long writes may still be sent, read at the moment of sending; 0 refuses them. An elector that has none is trusted to
   * call `onStop` in time, which a blocked event loop can prevent.
   */
  writeBudgetMs?(): number;
}

/** For a single replica: leads from the start to the end. */
export const alwaysLeader: LeaderElector = {
  run: async (signal, onStart, onStop) => {
    if (signal.aborted) return;
    onStart();
    await aborted(signal);
    onStop();
  },
};

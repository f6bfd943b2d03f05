import { serveOnThread } from "../../src/webhook-thread/serve-on-thread.ts";

// The entry of the thread in webhook-thread.test.ts: names decide what happens.
serveOnThread([
  {
    kind: "admission",
    path: "/admit",
    decide: ({ name }) => {
      if (name === "throws") throw new RangeError("a fault of ours");
      return name === "denied" ? { kind: "deny", message: "not this one" } : { kind: "allow" };
    },
  },
]);

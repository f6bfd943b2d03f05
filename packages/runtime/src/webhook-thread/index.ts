export { serveOnThread } from "./serve-on-thread.ts";
export { WebhookThread } from "./webhook-thread.ts";
export type { WebhookThreadOptions } from "./webhook-thread.ts";

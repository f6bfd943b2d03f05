import { serveOnThread } from "@quartermaster/runtime/webhook-thread";

import { routes } from "./webhook-route.ts";

serveOnThread(routes);

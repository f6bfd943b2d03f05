import type { CertifiedKey } from "../certificates/certificate-source.ts";
import type { WebhookRoute } from "../webhook/answer-review.ts";
import type { WebhookServerOptions } from "../webhook/webhook-server.ts";

/** What the thread is told when it starts; plain data. */
export interface ThreadSettings {
  readonly certificate: CertifiedKey;
  readonly server: Omit<WebhookServerOptions, "routes" | "certificates" | "system" | "log" | "observer">;
}

/** What the thread is told later. */
export type ThreadOrder =
  | { readonly kind: "certificate"; readonly certificate: CertifiedKey }
  | { readonly kind: "stop" };

/** What the thread tells. */
export type ThreadReport =
  | { readonly kind: "listening"; readonly port: number }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "started"; readonly webhook: string }
  | {
      readonly kind: "finished";
      readonly webhook: string;
      readonly code: number;
      readonly durationMs: number;
    }
  | { readonly kind: "threw"; readonly webhook: string; readonly review: WebhookRoute["kind"] }
  | {
      readonly kind: "logged";
      readonly level: "debug" | "info" | "warn" | "error";
      readonly message: string;
      readonly fields: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "stopped" };

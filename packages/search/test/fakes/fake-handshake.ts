import { certificateTrust, readCertificate, type TrustQuery } from "@quartermaster/runtime/certificates";

import type { EngineTarget, EngineTls } from "../../src/engine/engine-client.ts";
import { EngineError } from "../../src/engine/engine-error.ts";
import type { FakeNode } from "./fake-pod.ts";

/** What both sides make of each other: certificates both ways, then the login. Throws what the real client throws. */
export function fakeHandshake(node: FakeNode, { tls, login }: EngineTarget, nowMs: number): void {
  const { name, accounts } = node.pod;
  if ((tls === undefined) !== (node.served === undefined))
    throw refusal(name, "unreachable", "one side speaks TLS and the other does not");
  if (tls !== undefined && node.served !== undefined) {
    const { certificatePem, caPem } = node.served;
    if (!isServerTrusted(certificatePem, tls, nowMs))
      throw refusal(name, "untrusted", "its certificate is not one that we trust");
    const client = { bundlePem: caPem, nowMs, usage: "client" } as const;
    if (tls.client !== undefined && !isTrusted(tls.client.certificatePem, client))
      throw refusal(name, "forbidden", "our client certificate was not accepted");
  }
  const isKnown =
    accounts === undefined || (login !== undefined && accounts[login.username] === login.password);
  if (!isKnown) throw refusal(name, "forbidden", "HTTP 401");
}

function isServerTrusted(certificatePem: string, tls: EngineTls, nowMs: number): boolean {
  const question = { bundlePem: tls.caPem, nowMs, usage: "server" } as const;
  const names = [tls.serverName, tls.otherName ?? tls.serverName];
  if (names.some((host) => isTrusted(certificatePem, { ...question, host }))) return true;
  const isMounted =
    tls.mountedCertificates?.includes(readCertificate(certificatePem)?.fingerprint ?? "") === true;
  return isMounted && isTrusted(certificatePem, question);
}

const remembered = new Map<string, boolean>();
const rememberedLimit = 2_000;
const minuteMs = 60_000;

/** Verifying takes milliseconds and campaigns make a million calls, so a response holds for a minute of the system's time. */
function isTrusted(certificatePem: string, question: TrustQuery): boolean {
  const { bundlePem, usage = "", host = "", nowMs } = question;
  const key = [Math.floor(nowMs / minuteMs), usage, host, certificatePem, bundlePem].join("|");
  const known = remembered.get(key);
  if (known !== undefined) return known;
  const trust = certificateTrust(certificatePem, question) === "trusted";
  if (remembered.size >= rememberedLimit) remembered.clear();
  remembered.set(key, trust);
  return trust;
}

function refusal(
  node: string,
  code: "unreachable" | "untrusted" | "forbidden",
  problem: string,
): EngineError {
  return new EngineError(`node ${node}: ${problem}`, { code, mayHaveActed: false });
}

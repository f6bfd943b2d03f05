import { randomBytes } from "node:crypto";

import {
  type Access,
  joinSharedCluster,
  makeNamespace,
  type Workload,
  type WorkloadRun,
} from "@quartermaster/testkit";

import { IssuedCertificates } from "../../src/certificates/issued-certificates.ts";
import { InformerPool } from "../../src/informers/informer-pool.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { connect } from "./connect.ts";
import { registrationOf } from "./serving.ts";

const system = realSystem();

/** Own certificates from nothing, then a configuration that is created again, and a Secret that is: every write of issuing and of its bundle. */
export const certificatesWorkload: Workload = { name: "certificates", setUp: certificatesRun };

interface Configuration {
  readonly webhooks: readonly { readonly clientConfig: { readonly caBundle?: string } }[];
}

async function certificatesRun(): Promise<WorkloadRun> {
  const stack = new AsyncDisposableStack();
  const cluster = stack.use(joinSharedCluster());
  const namespace = stack.use(await makeNamespace(cluster.api, "certificates"));
  const name = `e${randomBytes(4).toString("hex")}`;
  const path = `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/${name}`;
  const secretPath = `/api/v1/namespaces/${namespace.name}/secrets/ca`;
  const { api } = cluster;
  const read = async <T>(at: string): Promise<T | undefined> => {
    const { status, body } = await api.send({ path: at });
    return status === 200 ? (JSON.parse(body) as T) : undefined;
  };
  const bundle = async (): Promise<string> =>
    (await read<Configuration>(path))?.webhooks[0]?.clientConfig.caBundle ?? "";
  const apply = async (): Promise<void> => {
    await api.apply(
      path,
      registrationOf({ name, kind: "Mutating", port: 1, path: "/x", namespace: "nowhere" }),
    );
  };
  /** The bundle is the one that the Secret holds. */
  const isTrusted = async (): Promise<boolean> => {
    const data = JSON.stringify((await read<{ readonly data: object }>(secretPath))?.data ?? {});
    const trusted = await bundle();
    return trusted !== "" && data.includes(trusted);
  };
  stack.defer(async () => {
    await api.send({ method: "DELETE", path });
  });
  const lives = stack.use(new Life(name, namespace.name));
  return {
    api,
    operator: cluster.admin,
    aliases: { [name]: "hooks", [namespace.name]: "ns" },
    primaryPaths: [path],
    operate: async (access) => {
      await lives.begin(access);
    },
    stop: async () => {
      await lives.end();
    },
    steps: [
      { name: "issue", act: apply, isDone: isTrusted },
      {
        name: "create the configuration again",
        act: async () => {
          await api.send({ method: "DELETE", path });
          await apply();
        },
        isDone: isTrusted,
      },
    ],
    endState: async () => ({
      isTrusted: await isTrusted(),
      hooks: (await read<Configuration>(path))?.webhooks.length,
      keys: Object.keys((await read<{ readonly data: object }>(secretPath))?.data ?? {}).toSorted(),
    }),
    isCleared: async () => (await read(path)) === undefined,
    [Symbol.asyncDispose]: async () => {
      await stack.disposeAsync();
    },
  };
}

/** The part of an operator that issues; a new one for each life. */
class Life implements AsyncDisposable {
  readonly #name: string;
  readonly #namespace: string;
  #stack = new AsyncDisposableStack();

  constructor(name: string, namespace: string) {
    this.#name = name;
    this.#namespace = namespace;
  }

  async begin(access: Access): Promise<void> {
    const { client, transport } = this.#stack.use(connect(access));
    const informers = this.#stack.use(new InformerPool({ transport, system, freeze: true }));
    const stopping = new AbortController();
    const certificates = new IssuedCertificates({
      client,
      system,
      secret: { namespace: this.#namespace, name: "ca" },
      ipAddresses: ["127.0.0.1"],
      targets: [{ kind: "mutating", name: this.#name }],
      informers,
    });
    const running = certificates.run(stopping.signal);
    this.#stack.defer(async () => {
      stopping.abort();
      await Promise.allSettled([running]);
    });
    await Promise.resolve();
  }

  async end(): Promise<void> {
    await this.#stack.disposeAsync();
    this.#stack = new AsyncDisposableStack();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}

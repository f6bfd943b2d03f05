// Runs each App as a Deployment, restarts its pods when its Secret changes, and refuses images without a tag.
import {
  CertificateFiles,
  type DecideAdmission,
  defineController,
  defineKind,
  fieldOf,
  type KubeObject,
  type Live,
  realSystem,
  type Recipe,
  type Rule,
  run,
  settled,
  textOf,
  waiting,
  WebhookServer,
} from "@quartermaster/runtime";
import { deployments, secrets } from "@quartermaster/runtime/kinds";

interface App extends KubeObject {
  readonly spec: { readonly image: string; readonly secretName: string };
  readonly status?: { readonly secretVersion?: string };
}
const apps = defineKind<App>({
  group: "example.org",
  version: "v1",
  kind: "App",
  plural: "apps",
  scope: "Namespaced",
});

/** Everything that the decision needs. */
interface Seen {
  readonly app: Live<App>;
  /** Undefined while there is no such Secret. */
  readonly secretVersion: string | undefined;
}
interface Action {
  readonly kind: "deploy";
  readonly app: App;
  readonly secretVersion: string;
}

/** The first rule that answers decides. Rules are pure, so that a test is a table. */
const rules: readonly Rule<Seen, Action>[] = [
  {
    name: "secretMissing",
    decide: ({ app: { spec }, secretVersion }) => {
      if (secretVersion !== undefined) return undefined;
      const why = { reason: "SecretMissing", message: `Create the Secret ${spec.secretName}.` };
      // The Secret is followed: its creation starts the next reconcile, long before this time is over.
      return { actions: [], outcome: waiting(why, 3_600_000) };
    },
  },
  {
    name: "deploy",
    decide: ({ app, secretVersion = "" }) => ({
      actions: [{ kind: "deploy", app, secretVersion }],
      outcome: settled(),
      status: { secretVersion },
    }),
  },
];

const recipe: Recipe<App, Seen, Action> = {
  rules,
  // Of the Secret only metadata is sent and kept: its values are not our business.
  observe: async (app, ctx) => {
    const secret = ctx.follow(secrets, { name: app.spec.secretName }, { isMetadataOnly: true });
    return await Promise.resolve({ app, secretVersion: secret?.metadata.resourceVersion });
  },
  perform: async ({ app, secretVersion }, ctx) => {
    const { name } = app.metadata;
    const { image, secretName } = app.spec;
    const labels = { app: name };
    const envFrom = [{ secretRef: { name: secretName } }];
    // A changed annotation of the pods makes the Deployment replace them.
    const metadata = { labels, annotations: { "example.org/secret-version": secretVersion } };
    const template = { metadata, spec: { containers: [{ name, image, envFrom }] } };
    await ctx.apply(deployments, {
      metadata: { name },
      spec: { selector: { matchLabels: labels }, template },
    });
  },
};

/** A webhook has the same split: the request is all that it sees, the decision is pure. */
const decide: DecideAdmission = ({ object }) => {
  const image = textOf(fieldOf(object, "spec"), "image") ?? "";
  if (/:[\w][\w.-]*$/.test(image)) return { kind: "allow" };
  const cause = { field: "spec.image", reason: "FieldValueInvalid", message: "needs a tag" };
  return { kind: "deny", code: 422, reason: "Invalid", message: "The image needs a tag.", causes: [cause] };
};

const system = realSystem();
const { CERTIFICATES = "/etc/webhook", WEBHOOK_PORT = "9443" } = system.env;
const certificates = new CertificateFiles({
  system,
  certificatePath: `${CERTIFICATES}/tls.crt`,
  keyPath: `${CERTIFICATES}/tls.key`,
});
await certificates.refresh();
const renewing = new AbortController();
const renewal = certificates.run(renewing.signal);
await using server = new WebhookServer({
  system,
  certificates,
  port: Number(WEBHOOK_PORT),
  routes: [{ kind: "admission", path: "/apps", decide }],
});
await server.listen();

const controller = defineController(apps, { owns: [deployments], recipe });
await run({ name: "app-controller", controllers: [controller] });
renewing.abort();
await renewal;

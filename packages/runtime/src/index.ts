export { ownIdentity, subjectFlag } from "./access/own-identity.ts";
export { type AuthorAnnotations, type RecordedAuthor, recordedAuthor } from "./access/recorded-author.ts";
export { AccessCache, reviewAccess, serviceAccountSubject } from "./access/review-access.ts";
export { SharedReads } from "./access/shared-reads.ts";
export type { SharedReadsOptions } from "./access/shared-reads.ts";
export type {
  AccessDecision,
  AccessCacheOptions,
  AccessRequest,
  AccessSubject,
  ReviewOptions,
} from "./access/review-access.ts";
export { controllerReference, isControlledBy } from "./apply/apply-owned.ts";
export type { Desired } from "./apply/apply-owned.ts";
export { fieldsAppliedBy, isApplyOf, managersOf, readManagerEntry, unownedPaths } from "./apply/field-set.ts";
export type { FieldSet, ManagerEntry } from "./apply/field-set.ts";
export { CertificateFiles } from "./certificates/certificate-files.ts";
export type { CertificateSource, CertifiedKey } from "./certificates/certificate-source.ts";
export { injectBundle } from "./certificates/bundle-target.ts";
export type { BundleTarget } from "./certificates/bundle-target.ts";
export { IssuedCertificates } from "./certificates/issued-certificates.ts";
export type {
  Applied,
  ApplyOptions,
  CallOptions,
  Client,
  DeepPartial,
  DeleteIfPresentOptions,
  DeleteOptions,
  ListOptions,
  ObjectPage,
  Patch,
  RawRequest,
  GetOptions,
  ReadOptions,
  WriteOptions,
} from "./client/client.ts";
export { createClient } from "./client/create-client.ts";
export type { ClientOptions } from "./client/create-client.ts";
export { Discovery } from "./client/discovery.ts";
export type { KindName, ServedKind } from "./client/discovery.ts";
export type { ClusterConfig, Impersonation } from "./config/cluster-config.ts";
export { loadConfig } from "./config/load-config.ts";
export type { LoadConfigOptions } from "./config/load-config.ts";
export { mappedFrom } from "./controller/controller-definition.ts";
export type {
  ControllerDefinition,
  ControllerOptions,
  MappedOptions,
  MappedSource,
  Predicate,
  RecipeDefinition,
  Reconciled,
  ReconcileDefinition,
  Source,
  StatusOf,
  WokenRef,
} from "./controller/controller-definition.ts";
export { defineController } from "./controller/define-controller.ts";
export type { Controller } from "./controller/define-controller.ts";
export { NotYetKnownError } from "./controller/followed-watches.ts";
export { isKindServed } from "./controller/is-kind-served.ts";
export type { Signals } from "./controller/run-signals.ts";
export { ApiError, classify, ConfigError, ExternalError } from "./errors.ts";
export type {
  ApiErrorFacts,
  ErrorClass,
  ErrorSubject,
  ExternalErrorClass,
  ExternalErrorFacts,
  InvalidCause,
} from "./errors.ts";
export type { InformerEvent, InformerHandler } from "./informers/informer-event.ts";
export type { InformerHandle, InformerRequest } from "./informers/informer-pool.ts";
export { LeaseElector } from "./leader/lease-elector.ts";
export type { FencedElector, LeaseElectorOptions } from "./leader/lease-elector.ts";
export { alwaysLeader } from "./leader/leader-elector.ts";
export type { LeaderElector } from "./leader/leader-elector.ts";
export { createManager } from "./manager/manager.ts";
export type { Manager, ManagerHealth, ManagerOptions } from "./manager/manager.ts";
export type { Telemetry } from "./manager/telemetry.ts";
export { definedFields } from "./object/defined-fields.ts";
export type { DefinedFields } from "./object/defined-fields.ts";
export { durationMs } from "./object/duration-ms.ts";
export { isTextDeeperThan } from "./object/is-deeper-than.ts";
export {
  escapePointer,
  fieldOf,
  isJsonObject,
  listOf,
  pointerKeys,
  textOf,
  withoutFields,
} from "./object/json-object.ts";
export type { JsonObject } from "./object/json-object.ts";
export { canonicalJson, digestOf } from "./object/canonical-json.ts";
export { apiVersionOf, defineKind, groupOf, nameOfKind } from "./object/kind.ts";
export type { Kind } from "./object/kind.ts";
export { keyOf, refOf } from "./object/kube-object.ts";
export type {
  KubeObject,
  Live,
  ObjectKey,
  ObjectMeta,
  NamespacedRef,
  ObjectRef,
  OwnerReference,
} from "./object/kube-object.ts";
export { meetsAll, parseLabelSelector } from "./object/parse-label-selector.ts";
export type { LabelRequirement } from "./object/parse-label-selector.ts";
export { patchBetween } from "./object/patch-between.ts";
export type { JsonPatchOperation } from "./object/patch-between.ts";
export { printable } from "./object/printable.ts";
export { exactNumber, isRawNumber } from "./object/raw-number.ts";
export type { RawNumber } from "./object/raw-number.ts";
export type { Condition } from "./reconcile/condition.ts";
export { defineMemory } from "./reconcile/define-memory.ts";
export type { MemorySlot } from "./reconcile/define-memory.ts";
export { silentLog } from "./reconcile/log.ts";
export type { Log, LogFields } from "./reconcile/log.ts";
export { held, settled, stalled, waiting } from "./reconcile/outcome.ts";
export type { CleanUpEnd, ConditionUpdate, Lane, Outcome, Verdict, Why } from "./reconcile/outcome.ts";
export { mergeLanes } from "./reconcile/perform-lanes.ts";
export type { LaneEnd } from "./reconcile/perform-lanes.ts";
export { reasons } from "./reasons.ts";
export { defineDeletion, firstDecision } from "./reconcile/recipe.ts";
export type {
  Context,
  Decided,
  Deletion,
  DeletionDefinition,
  FollowView,
  Recipe,
  ReconcileEvent,
  ReconcileEvents,
  Rule,
  Tracked,
} from "./reconcile/recipe.ts";
export { timestampOf } from "./reconcile/status-writer.ts";
export type {
  Domain,
  DomainHost,
  DomainPermission,
  ConfigurationName,
  DomainWebhooks,
  OperatorRole,
  WebhookServing,
  WebhookStores,
} from "./run/domain.ts";
export type { Prerequisites } from "./prerequisites/prerequisites.ts";
export { ownPermissions } from "./run/own-permissions.ts";
export type { OwnPermission } from "./run/own-permissions.ts";
export { run } from "./run/run.ts";
export type { RunOptions } from "./run/run.ts";
export type { WebhookOptions } from "./run/webhook-role.ts";
export type { CaSource } from "./certificates/relayed-ca.ts";
export { byLabel, byNamespace, byOwner, defineIndex } from "./store/index-set.ts";
export type { Index } from "./store/index-set.ts";
export type { ReadStore } from "./store/object-store.ts";
export { inParallel } from "./system/in-parallel.ts";
export { pause } from "./system/pause.ts";
export { aborted } from "./system/termination.ts";
export { realSystem } from "./system/real-system.ts";
export type { System, Timer } from "./system/system.ts";
export { both } from "./telemetry/both.ts";
export { createLog } from "./telemetry/create-log.ts";
export type {
  DomainSeries,
  Metric,
  HistogramSpec,
  LabelledSpec,
  SeriesSpec,
} from "./telemetry/domain-series.ts";
export type { LabelRule, LabelsOf, SeriesLabels } from "./telemetry/label-bounds.ts";
export { createMetrics } from "./telemetry/metrics.ts";
export { createSpans } from "./telemetry/spans.ts";
export { TelemetryServer } from "./telemetry/telemetry-server.ts";
export { parseJson, tryParseJson } from "./transport/parse-json.ts";
export { impersonationHeaders } from "./transport/api-request.ts";
export { createTransport } from "./transport/transport.ts";
export type { Transport, TransportOptions } from "./transport/transport.ts";
export { unreachable } from "./unreachable.ts";
export type {
  AdmissionDecision,
  AdmissionRequest,
  AuditAnnotations,
  DecideAdmission,
} from "./webhook/admission.ts";
export type { WebhookRoute } from "./webhook/respond-to-review.ts";
export { ConversionError, convertOverHub } from "./webhook/conversion.ts";
export type { ConvertObject } from "./webhook/conversion.ts";
export { configurationController } from "./webhook/configuration-controller.ts";
export type { ConfigurationControllerOptions } from "./webhook/configuration-controller.ts";
export { configurationOwnerLabel } from "./webhook/webhook-configuration.ts";
export type {
  DerivedWebhooks,
  KeptState,
  WebhookAddress,
  WebhookConfigurationSpec,
  WebhookRule,
  WebhookSpec,
} from "./webhook/webhook-configuration.ts";
export { WebhookServer } from "./webhook/webhook-server.ts";
export { schemaMismatch } from "./transport/typed-patch-causes.ts";

import { type InstallPlan, planAnnotations } from "@quartermaster/api";
import type { Context, ObjectRef } from "@quartermaster/runtime";
import {
  type LabelSelector,
  type ValidatingAdmissionPolicy,
  validatingAdmissionPolicies,
  type ValidatingAdmissionPolicyBinding,
  validatingAdmissionPolicyBindings,
} from "@quartermaster/runtime/kinds";

/**
 * What a user confirmed about a plan by annotation. `unguarded`: the annotation is set, and no policy says that only those
 * may who can act as the plan's account; then it does not count.
 */
export type Confirmation = "none" | "unguarded" | "given";

/** Whether a user says that the service account with this uid, which is not the one from before, is to be trusted. */
export function trustOf(plan: InstallPlan, accountUid: string, ctx: Context): Confirmation {
  return confirmationOf(plan, { annotation: planAnnotations.trust, value: accountUid, ctx });
}

/** Whether a user says that this very plan was restored from a backup: one that a backup contains has another uid. */
export function restoreOf(plan: InstallPlan, ctx: Context): Confirmation {
  const { uid = "" } = plan.metadata;
  if (plan.status?.restored === uid) return "none";
  return confirmationOf(plan, { annotation: planAnnotations.restore, value: uid, ctx });
}

interface Query {
  readonly annotation: string;
  /** The uid that the annotation has to name: what was confirmed for another object does not count. */
  readonly value: string;
  readonly ctx: Context;
}

function confirmationOf({ metadata }: InstallPlan, { annotation, value, ctx }: Query): Confirmation {
  if (value === "" || metadata.annotations?.[annotation] !== value) return "none";
  const policies = ctx.store(validatingAdmissionPolicies).list();
  const bindings = ctx.store(validatingAdmissionPolicyBindings).list();
  return isGuarded(metadata, policies, bindings) ? "given" : "unguarded";
}

/** Name of the policy in config/policy/installplan-confirmations.yaml. */
const policyName = "quartermaster-installplan-confirmations";

/**
 * Whether the API server refuses confirmations of people who may not act as the account: the policy is there and fails closed, and a
 * binding denies in the plan's namespace. Only the two plain forms of bindings are understood, for all namespaces and for one by
 * its name; any other counts as none.
 */
export function isGuarded(
  { namespace = "" }: ObjectRef,
  policies: readonly ValidatingAdmissionPolicy[],
  bindings: readonly ValidatingAdmissionPolicyBinding[],
): boolean {
  const isThere = policies.some(
    ({ metadata, spec }) => metadata.name === policyName && spec?.failurePolicy === "Fail",
  );
  return isThere && bindings.some(({ spec = {} }) => denies(spec) && covers(spec, namespace));
}

type BindingSpec = ValidatingAdmissionPolicyBinding["spec"];

function denies({ policyName: bound, validationActions = [] }: NonNullable<BindingSpec>): boolean {
  return bound === policyName && validationActions.includes("Deny");
}

function covers({ paramRef, matchResources = {} }: NonNullable<BindingSpec>, namespace: string): boolean {
  const { namespaceSelector = {}, objectSelector = {}, matchPolicy: _policy, ...others } = matchResources;
  if (paramRef !== undefined || !isEmpty(objectSelector) || !isEmpty(others)) return false;
  return isEmpty(namespaceSelector) || selectsByName(namespaceSelector, namespace);
}

function selectsByName({ matchLabels = {}, ...others }: LabelSelector, namespace: string): boolean {
  const isByName = Object.keys(matchLabels).length === 1 && isEmpty(others);
  return isByName && matchLabels["kubernetes.io/metadata.name"] === namespace;
}

function isEmpty(value: object): boolean {
  return Object.values(value).every((part) => part === undefined);
}

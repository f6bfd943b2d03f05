import { ApiError, classify, ConfigError, SchemaError } from "../errors.ts";
import type { LogFields } from "../reconcile/log.ts";

/** A value that may stand in a log line. */
export type Fact = string | number | boolean | null | readonly Fact[] | ErrorFacts;

/** An error without anything that it may have been given by others. */
export interface ErrorFacts {
  readonly class: string;
  readonly code: string;
  readonly message: string;
  /** Where, without the message. */
  readonly stack: string;
  readonly cause?: ErrorFacts;
}

/**
 * Fields reduced to plain facts, by type: text, numbers, truth values, lists of these, and errors. Objects of the cluster
 * become their kind and name, everything else becomes a word that says what was left out: bytes, maps and bodies may hold
 * secrets, and no one can tell by looking.
 */
export function plainFacts(fields: LogFields): Readonly<Record<string, Fact>> {
  const facts = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(facts.map(([name, value]) => [name, factOf(value)]));
}

/** An error reduced to facts. */
export function errorFacts(error: Error, depth = 0): ErrorFacts {
  const { name, cause } = error;
  return {
    class: name,
    code: codeOf(error),
    message: hasOnlyOurText(error) ? cut(error.message) : masked(error.message),
    stack: framesOf(error),
    ...(cause instanceof Error && depth < 3 && { cause: errorFacts(cause, depth + 1) }),
  };
}

const textLimit = 1_024;
const listLimit = 50;

function factOf(value: unknown): Fact {
  switch (typeof value) {
    case "string":
      return cut(value);
    case "number":
    case "boolean":
      return value;
    case "bigint":
      return value.toString();
    case "object":
      return value === null ? null : factOfObject(value);
    case "undefined":
    case "function":
    case "symbol":
      return leftOut(typeof value);
    default:
      return leftOut("value");
  }
}

function factOfObject(value: object): Fact {
  if (value instanceof Error) return errorFacts(value);
  if (Array.isArray(value)) return value.slice(0, listLimit).map(factOf);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return leftOut("bytes");
  return nameOf(value) ?? leftOut("object");
}

/** `Secret ns/name` for an object of the cluster. */
function nameOf(value: object): string | undefined {
  const { kind, metadata } = value as { readonly kind?: unknown; readonly metadata?: unknown };
  if (typeof kind !== "string" || typeof metadata !== "object" || metadata === null) return undefined;
  const { namespace, name } = metadata as { readonly namespace?: unknown; readonly name?: unknown };
  const path = [namespace, name].filter((part) => typeof part === "string");
  return cut(`${kind} ${path.join("/")}`);
}

function leftOut(what: string): string {
  return `[left out: ${what}]`;
}

function cut(text: string): string {
  return text.length > textLimit ? `${text.slice(0, textLimit)}…` : text;
}

function codeOf(error: Error): string {
  if (error instanceof ApiError) return error.class;
  const code: unknown = "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : classify(error);
}

/** Ours promise it; of the API server's responses only refused objects are quoted back. */
function hasOnlyOurText(error: Error): boolean {
  if (error instanceof ApiError) return error.class !== "invalid" && error.class !== "bug";
  return error instanceof ConfigError || error instanceof SchemaError;
}

/**
 * Parsers, crypto and HTTP libraries quote what they choked on: `Unexpected token … "s3cret" is not valid JSON`. Text
 * between the first and the last quotation mark goes, and so does every long run without a space.
 */
function masked(message: string): string {
  return cut(message.replace(/["'`].*["'`]/s, '"…"').replaceAll(/\S{25,}/g, "…"));
}

/** The stack repeats the message; only its frames are kept. */
function framesOf({ stack = "" }: Error): string {
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line));
  return frames
    .map((line) => line.trim())
    .slice(0, 20)
    .join("\n");
}

import {
  create,
  createFileRegistry,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonValue,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type FieldDescriptorProto,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FieldDescriptorProtoSchema,
  file_google_protobuf_wrappers,
  FileDescriptorProtoSchema,
  DescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";

/** A field: its number and its type. `map` is from text to text; any other word is the name of a message. */
export type FieldSpec = readonly [number: number, type: string, isRepeated?: "repeated"];

/** The messages of one package by name; the fields by name, as the protocol spells them. */
export type MessageSpecs = Readonly<Record<string, Readonly<Record<string, FieldSpec>>>>;

/** One message type on the wire. Values are protobuf's JSON: lowerCamel keys, bytes in base64. */
export interface MessageCodec {
  encode(value: JsonValue): Buffer;
  decode(bytes: Uint8Array): JsonValue;
}

/**
 * Message types from a table, without generated code. Fields that the table does not know are skipped when they come in, as
 * protobuf demands.
 *
 * @example
 * const codec = defineProtocol("csi.v1", { ProbeResponse: { ready: [1, "google.protobuf.BoolValue"] } })("ProbeResponse");
 */
export function defineProtocol(packageName: string, specs: MessageSpecs): (message: string) => MessageCodec {
  const file = create(FileDescriptorProtoSchema, {
    name: `${packageName.replaceAll(".", "/")}.proto`,
    package: packageName,
    syntax: "proto3",
    dependency: [file_google_protobuf_wrappers.proto.name],
    messageType: Object.entries(specs).map(([name, fields]) => messageType(packageName, name, fields)),
  });
  const registry = createFileRegistry(file, (name) =>
    name === file_google_protobuf_wrappers.proto.name ? file_google_protobuf_wrappers : undefined,
  );
  return (message) => {
    const type = registry.getMessage(`${packageName}.${message}`);
    if (type === undefined) throw new TypeError(`${packageName} has no message ${message}`);
    return codecOf(type);
  };
}

function codecOf(type: DescMessage): MessageCodec {
  return {
    encode: (value) => Buffer.from(toBinary(type, fromJson(type, value))),
    decode: (bytes) => toJson(type, fromBinary(type, bytes)),
  };
}

function messageType(
  packageName: string,
  name: string,
  fields: Readonly<Record<string, FieldSpec>>,
): DescriptorProto {
  const entries = Object.entries(fields);
  return create(DescriptorProtoSchema, {
    name,
    field: entries.map(([field, spec]) => fieldOf(`${packageName}.${name}`, field, spec)),
    nestedType: entries.filter(([, [, type]]) => type === "map").map(([field]) => mapEntry(field)),
  });
}

const scalars: Readonly<Record<string, Type>> = {
  string: Type.STRING,
  bool: Type.BOOL,
  int64: Type.INT64,
  int32: Type.INT32,
};

function fieldOf(owner: string, name: string, [number, type, repeated]: FieldSpec): FieldDescriptorProto {
  const scalar = scalars[type];
  const isRepeated = repeated === "repeated" || type === "map";
  return create(FieldDescriptorProtoSchema, {
    name,
    jsonName: lowerCamel(name),
    number,
    label: isRepeated ? Label.REPEATED : Label.OPTIONAL,
    type: scalar ?? Type.MESSAGE,
    ...(scalar === undefined ? { typeName: typeName(owner, name, type) } : {}),
  });
}

function typeName(owner: string, field: string, type: string): string {
  if (type === "map") return `.${owner}.${entryName(field)}`;
  const packageName = owner.slice(0, owner.lastIndexOf("."));
  return type.includes(".") ? `.${type}` : `.${packageName}.${type}`;
}

/** A map is a repeated message of key and value, with a name that protobuf prescribes. */
function mapEntry(field: string): DescriptorProto {
  return create(DescriptorProtoSchema, {
    name: entryName(field),
    field: [fieldOf("", "key", [1, "string"]), fieldOf("", "value", [2, "string"])],
    options: { mapEntry: true },
  });
}

function entryName(field: string): string {
  const name = lowerCamel(field);
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}Entry`;
}

function lowerCamel(field: string): string {
  return field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

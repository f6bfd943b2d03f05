/** The reasons that the runtime itself gives in conditions and events; domains add their own. */
export const reasons = {
  /** Everything is as declared. */
  settled: "Settled",
  /** Nothing is in progress because the object is stalled. */
  stalled: "Stalled",
  /** Nothing keeps the object from making progress. */
  progressing: "Progressing",
  /** The API server refused what we requested as malformed. */
  rejected: "Rejected",
  /** A permission is missing. */
  forbidden: "Forbidden",
  /** Something that the object needs, or its kind, is not there. */
  notFound: "NotFound",
  /** Another writer holds a field that we would have to take over. */
  fieldConflict: "FieldConflict",
  /** An object that we do not own has the name of one that we would make. */
  nameTaken: "NameTaken",
  /** The object to write is too large to be stored. */
  tooLarge: "TooLarge",
  /** The controller follows as many objects as it may. */
  followLimit: "FollowLimitReached",
  namespaceFollowLimit: "NamespaceFollowLimitReached",
  /** A fault of the operator. */
  internalError: "InternalError",
  /** Event: an object is nested too deeply to be worked with. */
  objectUnusable: "ObjectUnusable",
  /** Event on the operator's pod: a domain lacks permissions. */
  domainOff: "DomainOff",
} as const;

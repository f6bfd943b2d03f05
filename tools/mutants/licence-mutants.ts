import { type Mutant, mutantsOf } from "./mutant.ts";

/** Of what takes a licence away from a cluster, or lets go of it. */
export const licenceMutants: readonly Mutant[] = [
  ...mutantsOf(
    {
      topic: "licences",
      package: "search",
      level: "unit",
      tests: ["license-loss", "license-lane", "perform-license", "choose-license"],
    },
    [
      {
        name: "a lost licence is given up at once",
        find: "lost.sinceMs + licenseParameters.deletionGraceMs - now.getTime()",
        replace: "lost.sinceMs - now.getTime()",
      },
      {
        name: "a valid licence is given up without permission",
        find: 'if (!seen.license.allowsDowngrade) return { kind: "blocked", lost };',
        replace: "",
      },
      {
        name: "a licence that somebody uploaded by hand counts as lost",
        find: "  return uid === running.uid ? clusterLicense : undefined;",
        replace: '  return uid === running.uid ? (clusterLicense ?? "") : undefined;',
      },
      {
        name: "a licence whose ClusterLicense is there counts as lost",
        find: "const isGone = seen.license.clusterLicense === undefined;",
        replace: "const isGone = seen.license.wanted === undefined;",
      },
      {
        name: "an ended licence makes way for basic although another one is there",
        find: "  return wanted !== undefined && wanted.uid !== running.uid && wanted.expiryMs > now.getTime();",
        replace: "  return wanted === undefined && wanted === null;",
      },
      {
        name: "basic is started under whatever runs by now",
        find: "    if (before.uid !== from.uid)\n",
        replace: "    if (before.uid === undefined)\n",
      },
      {
        name: "basic is started although the licence is back",
        find: "if (from.isLost && (await isBack(from.uid)))",
        replace: "if (from.isLost && !(await isBack(from.uid)) && from.uid === undefined)",
      },
    ],
  ),
  ...mutantsOf({ topic: "licences", package: "licensing", level: "unit", tests: ["decide-binding"] }, [
    {
      name: "a cluster that keeps its licence on loss is let go",
      find: 'if (onLoss !== "RevertToBasic") return false;',
      replace: "",
    },
    {
      name: "a cluster is let go without permission for a lower type",
      find: "(isSourceGone && allowsDowngrade && desired === undefined)",
      replace: "(isSourceGone && desired === undefined)",
    },
    {
      name: "a faulty EnterpriseLicense counts as gone",
      find: "return from === undefined || !from.nested.some(",
      replace: "return from?.fault !== undefined || from === undefined || !from.nested.some(",
    },
    {
      name: "a pool in another namespace counts as gone",
      find: "if (source.namespace !== stores.licenseNamespace) return false;",
      replace: "",
    },
    {
      name: "an association of somebody else says what is lost",
      find: "if (association === undefined || source === undefined || !isControlledBy(association, cluster))",
      replace: "if (association === undefined || source === undefined)",
    },
  ]),
];

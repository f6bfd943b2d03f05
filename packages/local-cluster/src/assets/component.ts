/** The programs a local cluster is made of; the last three only run on real nodes. */
export type ComponentName =
  | "etcd"
  | "kube-apiserver"
  | "kube-controller-manager"
  | "kube-scheduler"
  | "kubectl"
  | "kwok"
  | "kubelet"
  | "kube-proxy"
  | "coredns";

/** The upstream projects; each has a Go module of its own, because one common module would bend their dependency versions. */
export type ProjectName = "kubernetes" | "etcd" | "kwok" | "coredns";

export interface Component {
  readonly name: ComponentName;
  readonly project: ProjectName;
  /** The Go package that is the program; "." is one of our own, in the module's directory. */
  readonly goPackage: string;
  /** Build time on two cores with an empty Go cache, in the order of `COMPONENTS`; a rough guide for people who wait. */
  readonly buildSeconds: number;
}

/** The module whose `require` line in our go.mod states the version of the project. */
export const PROJECT_MODULES: Readonly<Record<ProjectName, string>> = {
  kubernetes: "k8s.io/kubernetes",
  etcd: "go.etcd.io/etcd/server/v3",
  kwok: "sigs.k8s.io/kwok",
  coredns: "github.com/coredns/coredns",
};

/** All components, in the order in which they are built: what the API needs comes first. */
export const COMPONENTS: readonly Component[] = [
  {
    name: "kube-apiserver",
    project: "kubernetes",
    goPackage: "k8s.io/kubernetes/cmd/kube-apiserver",
    buildSeconds: 300,
  },
  {
    name: "kube-controller-manager",
    project: "kubernetes",
    goPackage: "k8s.io/kubernetes/cmd/kube-controller-manager",
    buildSeconds: 85,
  },
  {
    name: "kube-scheduler",
    project: "kubernetes",
    goPackage: "k8s.io/kubernetes/cmd/kube-scheduler",
    buildSeconds: 10,
  },
  { name: "kubectl", project: "kubernetes", goPackage: "k8s.io/kubernetes/cmd/kubectl", buildSeconds: 35 },
  { name: "kubelet", project: "kubernetes", goPackage: "k8s.io/kubernetes/cmd/kubelet", buildSeconds: 30 },
  {
    name: "kube-proxy",
    project: "kubernetes",
    goPackage: "k8s.io/kubernetes/cmd/kube-proxy",
    buildSeconds: 10,
  },
  { name: "etcd", project: "etcd", goPackage: "go.etcd.io/etcd/server/v3", buildSeconds: 30 },
  { name: "kwok", project: "kwok", goPackage: "sigs.k8s.io/kwok/cmd/kwok", buildSeconds: 90 },
  { name: "coredns", project: "coredns", goPackage: ".", buildSeconds: 100 },
];

/** The component of that name. */
export function componentNamed(name: ComponentName): Component {
  const component = COMPONENTS.find((candidate) => candidate.name === name);
  if (component === undefined) throw new Error(`there is no component named ${name}`);
  return component;
}

#!/bin/sh
# Writes the Go module of a Kubernetes release beside this script: sh add-kubernetes.sh 1.37.0
# Kubernetes requires its staging repositories as v0.0.0 and replaces them by folders that only its own tree has, so each of
# them is replaced by the version published for the release. The language level is the one Kubernetes asks for.
set -eu
version=${1:?which version, like 1.37.0}
minor=$(echo "$version" | cut -d. -f2)
staging=v0.${version#1.}
folder=$(dirname "$0")/kubernetes-1.$minor
mkdir -p "$folder"
cd "$folder"
rm -f go.mod go.sum
go mod init "quartermaster.local/kubernetes-1.$minor"
upstream=$(go mod download -json "k8s.io/kubernetes@v$version" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')
language=$(sed -n 's/^go //p' "$upstream")
go mod edit -go="$language" -godebug="default=go$(echo "$language" | cut -d. -f1-2)"
for repository in $(sed -nE 's#.*(k8s\.io/[a-z0-9-]+) (v0\.0\.0$|=> \./staging/.*)#\1#p' "$upstream" | sort -u); do
  go mod edit -replace="$repository=$repository@$staging"
done
go mod edit -require="k8s.io/kubernetes@v$version"
# With the version on each: without it `go get` moves kubernetes to the newest release.
for command in kube-apiserver kube-controller-manager kube-scheduler kubectl kubelet kube-proxy; do
  set -- "$@" "k8s.io/kubernetes/cmd/$command@v$version"
done
shift
go get -tool "$@"
go mod tidy

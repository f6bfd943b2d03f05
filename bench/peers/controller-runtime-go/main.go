// The copy controller of bench/contestants/copy.ts, written with Go's controller-runtime: what ours is measured against.
package main

import (
	"context"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)
func main() { _ = context.TODO; _ = os.Args; _ = corev1.AddToScheme; _ = metav1.Now; _ = runtime.NewScheme; _ = schema.ParseGroupResource; _ = clientgoscheme.AddToScheme; _ = ctrl.NewManager; _ = client.IgnoreNotFound }

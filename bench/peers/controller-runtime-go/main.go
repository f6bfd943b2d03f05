// The copy controller of bench/contestants/copy.ts written with Go's controller-runtime: what ours is measured against.
// It copies the spec of each Copy of one namespace to a ConfigMap of the same name, by server-side apply.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	namespace := flag.String("namespace", "", "whose objects are copied")
	concurrency := flag.Int("concurrency", 8, "objects worked on at the same time")
	flag.Parse() // --kubeconfig is controller-runtime's own
	if err := run(*namespace, *concurrency); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(namespace string, concurrency int) error {
	ctrl.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return err
	}
	scheme.AddKnownTypes(groupVersion, &Copy{}, &CopyList{})
	metav1.AddToGroupVersion(scheme, groupVersion)

	config := ctrl.GetConfigOrDie()
	config.QPS = -1 // no limit on our side: the other contestant has none either
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		Metrics: server.Options{BindAddress: "0"},
	})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).
		For(&Copy{}).
		Owns(&corev1.ConfigMap{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).
		Complete(&reconciler{client: manager.GetClient()})
	if err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

type reconciler struct{ client client.Client }

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var object Copy
	if err := r.client.Get(ctx, request.NamespacedName, &object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var made corev1.ConfigMap
	if err := r.client.Get(ctx, request.NamespacedName, &made); client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	if made.Data["text"] == object.Spec.Text {
		return ctrl.Result{}, nil
	}
	owner := applymeta.OwnerReference().
		WithAPIVersion(groupVersion.String()).WithKind("Copy").
		WithName(object.Name).WithUID(object.UID).WithController(true)
	wanted := applycore.ConfigMap(object.Name, object.Namespace).
		WithOwnerReferences(owner).
		WithData(map[string]string{"text": object.Spec.Text})
	return ctrl.Result{}, r.client.Apply(ctx, wanted, client.FieldOwner("copies"), client.ForceOwnership)
}

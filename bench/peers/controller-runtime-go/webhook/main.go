// The pod webhook of packages/subscription for the commonest pod, written with Go's controller-runtime: what ours is measured against.
// It follows the orders of the benchmark on standard input: `resync` fills a cache of all pods again and again, until `rest`.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func main() {
	namespace := flag.String("namespace", "", "whose pods are held during a re-sync")
	port := flag.Int("port", 0, "where reviews are answered")
	certificates := flag.String("certificates", "", "folder of tls.crt and tls.key")
	flag.Parse() // --kubeconfig is controller-runtime's own
	if err := run(*namespace, *port, *certificates); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(namespace string, port int, certificates string) error {
	ctrl.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return err
	}
	scheme.AddKnownTypes(groupVersion, &Bundle{}, &BundleList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	config := ctrl.GetConfigOrDie()
	config.QPS = -1 // no limit on our side: the other contestant has none either
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:        scheme,
		Metrics:       server.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: certificates}),
	})
	if err != nil {
		return err
	}
	hooks := manager.GetWebhookServer() // the manager starts it only once it was asked for
	hooks.Register("/subscription/pods", &admission.Webhook{Handler: &injector{
		reader:  manager.GetClient(),
		decoder: admission.NewDecoder(scheme),
		keys:    &keyIndex{reader: manager.GetAPIReader(), known: map[client.ObjectKey]keyNames{}},
	}})
	ctx := ctrl.SetupSignalHandler()
	if _, err := manager.GetCache().GetInformer(ctx, &Bundle{}); err != nil {
		return err
	}
	go followOrders(ctx, resyncer{config: config, scheme: scheme, namespace: namespace}, hooks)
	return manager.Start(ctx)
}

func followOrders(ctx context.Context, pods resyncer, hooks webhook.Server) {
	for hooks.StartedChecker()(nil) != nil {
		time.Sleep(20 * time.Millisecond)
	}
	say("ready", 0)
	resyncs, rest := 0, func() {}
	for orders := bufio.NewScanner(os.Stdin); orders.Scan(); {
		if orders.Text() != "resync" {
			rest()
			say("done", resyncs)
			continue
		}
		resting, cancel := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for resting.Err() == nil {
				if err := pods.once(resting); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				resyncs++
			}
		}()
		rest = func() { cancel(); <-ended }
		say("done", resyncs)
	}
}

type resyncer struct {
	config    *rest.Config
	scheme    *runtime.Scheme
	namespace string
}

// once fills a new cache with all pods of the namespace and drops it.
func (r resyncer) once(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pods, err := cache.New(r.config, cache.Options{
		Scheme:            r.scheme,
		DefaultNamespaces: map[string]cache.Config{r.namespace: {}},
	})
	if err != nil {
		return err
	}
	if _, err := pods.GetInformer(ctx, &corev1.Pod{}, cache.BlockUntilSynced(false)); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- pods.Start(ctx) }()
	pods.WaitForCacheSync(ctx)
	cancel()
	return <-ended
}

func say(word string, resyncs int) {
	line, _ := json.Marshal(map[string]any{"word": word, "resyncs": resyncs})
	fmt.Println(string(line))
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const (
	domain     = "subscription.openshift.io/"
	volumeName = "etc-pki-entitlement"
	mountPath  = "/run/secrets/etc-pki-entitlement"
)

// injector decides as packages/subscription does for a pod that names Bundles with entitlements: every Bundle must exist, no key may
// come twice, no container may mount something else at our path. ClusterBundles, repositories and labels are left out.
type injector struct {
	reader  client.Reader
	decoder admission.Decoder
	keys    *keyIndex
}

func (i *injector) Handle(ctx context.Context, request admission.Request) admission.Response {
	pod := &corev1.Pod{}
	if err := i.decoder.Decode(request, pod); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	names := bundleNames(pod.Annotations[domain+"inject-bundle"])
	if len(names) == 0 {
		return admission.Allowed("")
	}
	generations := map[string]int64{}
	givenBy := map[string]string{}
	sources := []corev1.VolumeProjection{}
	for _, name := range names {
		bundle := &Bundle{}
		if err := i.reader.Get(ctx, client.ObjectKey{Namespace: request.Namespace, Name: name}, bundle); err != nil {
			if apierrors.IsNotFound(err) {
				return admission.Denied(fmt.Sprintf("Bundle %q not found in namespace %q", name, request.Namespace))
			}
			return admission.Errored(http.StatusInternalServerError, err)
		}
		generations[name] = bundle.Generation
		for _, reference := range bundle.Spec.Entitlements {
			keys, err := i.keys.of(ctx, client.ObjectKey{Namespace: request.Namespace, Name: reference.Name})
			if err != nil {
				return admission.Errored(http.StatusInternalServerError, err)
			}
			for _, key := range keys {
				if other, isGiven := givenBy[key]; isGiven {
					return admission.Denied(fmt.Sprintf("key %q is provided by bundles %q and %q", key, other, name))
				}
				givenBy[key] = name
			}
			local := corev1.LocalObjectReference{Name: reference.Name}
			sources = append(sources, corev1.VolumeProjection{Secret: &corev1.SecretProjection{LocalObjectReference: local}})
		}
	}
	if err := mount(pod, sources); err != nil {
		return admission.Denied(err.Error())
	}
	record, err := json.Marshal(map[string]any{"bundles": generations})
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	pod.Annotations[domain+"bundle-generations"] = string(record)
	pod.Annotations[domain+"injected-volumes"] = volumeName
	changed, err := json.Marshal(pod)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(request.Object.Raw, changed)
}

func bundleNames(list string) []string {
	names := []string{}
	for _, name := range strings.Split(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func mount(pod *corev1.Pod, sources []corev1.VolumeProjection) error {
	projected := &corev1.ProjectedVolumeSource{Sources: sources}
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
		Name:         volumeName,
		VolumeSource: corev1.VolumeSource{Projected: projected},
	})
	for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for index := range containers {
			container := &containers[index]
			for _, other := range container.VolumeMounts {
				if strings.TrimSuffix(other.MountPath, "/") == mountPath {
					return fmt.Errorf("container %q already mounts %q", container.Name, mountPath)
				}
			}
			container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: volumeName, MountPath: mountPath})
		}
	}
	return nil
}

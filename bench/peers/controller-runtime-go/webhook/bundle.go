package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var groupVersion = schema.GroupVersion{Group: "subscription.openshift.io", Version: "v1alpha1"}

// Bundle names Secrets of its namespace whose keys pods get as files.
type Bundle struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              BundleSpec `json:"spec,omitempty"`
}

// BundleSpec holds what the peer knows of a Bundle.
type BundleSpec struct {
	Entitlements []Reference `json:"entitlements,omitempty"`
}

// Reference names a Secret.
type Reference struct {
	Name string `json:"name"`
}

// BundleList is a list of Bundles.
type BundleList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Bundle `json:"items"`
}

// DeepCopyObject is what controller-gen would write.
func (b *Bundle) DeepCopyObject() runtime.Object {
	out := *b
	b.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Entitlements = append([]Reference(nil), b.Spec.Entitlements...)
	return &out
}

// DeepCopyObject is what controller-gen would write.
func (l *BundleList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Bundle, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*Bundle)
	}
	return &out
}

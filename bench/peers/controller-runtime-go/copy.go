package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var groupVersion = schema.GroupVersion{Group: "bench.example.org", Version: "v1"}

// Copy is the kind that both contestants look after.
type Copy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              CopySpec `json:"spec,omitempty"`
}

// CopySpec holds what is copied, and a load that is not.
type CopySpec struct {
	Text string `json:"text,omitempty"`
	Load string `json:"load,omitempty"`
}

// CopyList is a list of Copies.
type CopyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Copy `json:"items"`
}

// DeepCopyObject is what controller-gen would write.
func (c *Copy) DeepCopyObject() runtime.Object {
	out := *c
	c.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// DeepCopyObject is what controller-gen would write.
func (l *CopyList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Copy, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*Copy)
	}
	return &out
}

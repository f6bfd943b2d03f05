package main

import (
	"context"
	"sort"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const freshFor = 30 * time.Second

// keyIndex reads Secrets one by one and keeps the names of their keys for a while: no list, no watch, no values.
type keyIndex struct {
	reader client.Reader
	mutex  sync.Mutex
	known  map[client.ObjectKey]keyNames
}

type keyNames struct {
	names  []string
	readAt time.Time
}

func (k *keyIndex) of(ctx context.Context, secret client.ObjectKey) ([]string, error) {
	k.mutex.Lock()
	found, isKnown := k.known[secret]
	k.mutex.Unlock()
	if isKnown && time.Since(found.readAt) < freshFor {
		return found.names, nil
	}
	object := &corev1.Secret{}
	if err := k.reader.Get(ctx, secret, object); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(object.Data))
	for name := range object.Data {
		names = append(names, name)
	}
	sort.Strings(names)
	k.mutex.Lock()
	k.known[secret] = keyNames{names: names, readAt: time.Now()}
	k.mutex.Unlock()
	return names, nil
}

package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// Object is one object of the cluster, as kubectl get -o yaml prints it.
type Object struct {
	manifest.File
	Kind, Namespace, Name string // Kind is KindOf it, and Namespace is "" for an object of the cluster
}

// Result is what Read found. It is the caller's.
type Result struct {
	// Objects are sorted by resource, then as the server sorts them: by namespace and name.
	Objects []Object
	// Warnings say what could not be read, and what an answer then lacks.
	Warnings []string
	// Version is the API server's, such as "v1.36.3"; "" if it would not tell.
	Version string
}

// parallel is how many requests are under way at a time: enough to hide the way to the server, no burden for it.
const parallel = 8

// reader is the state of one Read.
type reader struct {
	cluster    *Cluster
	namespaces []string // nil for all
	objects    dynamic.Interface
	server     rest.Interface
	slots      chan struct{}
	groups     map[string][]string // versions of the server's API groups; nil if it would not tell
	bytes      atomic.Int64        // of all objects so far
}

// Read reads what the purpose has a use for, in the named namespaces or, if there are none, in all. Several lists are
// under way at a time, each in pages. The error names everything that an answer cannot do without.
func (c *Cluster) Read(ctx context.Context, p Purpose, namespaces []string) (*Result, error) {
	r := &reader{cluster: c, namespaces: namespaces, slots: make(chan struct{}, parallel)}
	if err := r.connect(); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	// Alone, so that a server that is not there is said once, and an API group that it does not have is not asked for:
	// RBAC refuses what does not exist like anything else.
	if err := r.readGroups(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	jobs := append(r.jobs(p), &job{run: r.proxyConfiguration}, &job{run: r.version})
	if err := r.do(ctx, jobs); err != nil {
		return nil, err
	}
	out := &Result{}
	for _, j := range jobs {
		out.Objects = append(out.Objects, j.objects...)
		if j.warning != "" && !slices.Contains(out.Warnings, j.warning) {
			out.Warnings = append(out.Warnings, j.warning)
		}
		if j.version != "" {
			out.Version = j.version
		}
	}
	return out, nil
}

// connect makes the clients, which share their connections.
func (r *reader) connect() error {
	config := r.cluster.config
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	if r.objects, err = dynamic.NewForConfigAndClient(config, client); err != nil {
		return err
	}
	plain := rest.CopyConfig(config)
	plain.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion()
	if plain.UserAgent == "" {
		plain.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	r.server, err = rest.UnversionedRESTClientForConfigAndClient(plain, client)
	return err
}

// job is one request, or one list in several, and what came of it. Each is written by its own goroutine.
type job struct {
	run func(context.Context, *job) error

	objects []Object
	warning string
	version string
	err     error
}

// do runs the jobs. A server that does not answer one of them will not answer the others: they are called off.
func (r *reader) do(ctx context.Context, jobs []*job) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for _, j := range jobs {
		wg.Go(func() {
			r.slots <- struct{}{}
			defer func() { <-r.slots }()
			if err := j.run(ctx, j); err != nil {
				j.err = fmt.Errorf("%s: %w", r.cluster.Name, err)
			}
			if j.err != nil && !answered(j.err) {
				cancel(j.err)
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var errs []error
	for _, j := range jobs {
		errs = append(errs, j.err)
	}
	return errors.Join(errs...)
}

// answered says whether an error is the server's word, rather than its silence.
func answered(err error) bool {
	status := apierrors.APIStatus(nil)
	return errors.As(err, &status) && !apierrors.IsUnauthorized(err) || errors.As(err, &missing{})
}

// missing is what an answer cannot do without.
type missing struct{ error }

func (m missing) Unwrap() error { return m.error }

// jobs lists what is read of the purpose's resources.
func (r *reader) jobs(p Purpose) []*job {
	var jobs []*job
	for _, what := range p.resources() {
		in := []string{metav1.NamespaceAll}
		if len(r.namespaces) > 0 && (what.scope == inNamespaces || what.scope == itsNamespaces) {
			in = r.namespaces
		}
		for _, namespace := range in {
			jobs = append(jobs, &job{run: func(ctx context.Context, j *job) error { return r.list(ctx, j, what, namespace) }})
		}
	}
	return jobs
}

// readGroups asks which API groups there are, in which versions.
func (r *reader) readGroups(ctx context.Context) error {
	var list metav1.APIGroupList
	err := r.get(ctx, "/apis", &list)
	switch {
	case apierrors.IsForbidden(err) || apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	r.groups = map[string][]string{}
	for _, g := range list.Groups {
		for _, v := range g.Versions {
			r.groups[g.Name] = append(r.groups[g.Name], v.Version)
		}
	}
	return nil
}

// version asks for the server's version, which is a default and nothing more.
func (r *reader) version(ctx context.Context, j *job) error {
	var v version.Info
	err := r.get(ctx, "/version", &v)
	if err != nil && answered(err) {
		j.warning = fmt.Sprintf("%s: the server does not say its version (--kubernetes-version does): %v", r.cluster.Name, err)
		return nil
	}
	j.version = v.GitVersion
	return err
}

func (r *reader) get(ctx context.Context, path string, into any) error {
	data, err := r.server.Get().AbsPath(path).SetHeader("Accept", runtime.ContentTypeJSON).Do(ctx).Raw()
	if err != nil {
		return r.explain(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s%s: not what an API server answers: %w", strings.TrimSuffix(r.cluster.Server, "/"), path, err)
	}
	return nil
}

// explain adds the flag that could help.
func (r *reader) explain(err error) error {
	if wait := (*url.Error)(nil); errors.As(err, &wait) && wait.Timeout() && r.cluster.config.Timeout > 0 {
		return fmt.Errorf("no answer within %s (--request-timeout): %w", r.cluster.config.Timeout.Round(time.Millisecond), err)
	}
	return err
}

//go:build linux

package deploy

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
)

// walkThrough is the text of examples/kind, and the commands that it has one copy.
func walkThrough(t *testing.T) (text, commands string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "examples/kind/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var copied []string
	shown := false // what follows is shown, not copied
	for line := range strings.SplitSeq(string(b), "\n") {
		code, indented := strings.CutPrefix(line, "    ")
		switch {
		case !indented && line != "":
			shown = false
		case strings.HasPrefix(code, "$ "):
			shown = true
		case indented && !shown:
			copied = append(copied, code)
		}
	}
	if len(copied) < 10 {
		t.Fatalf("only %d commands", len(copied))
	}
	return string(b), strings.Join(copied, "\n")
}

// The commands are a shell's, and about files, flags and objects that exist.
func TestKindWalkThrough(t *testing.T) {
	t.Parallel()
	text, commands := walkThrough(t)
	for name, script := range map[string]string{"the README's commands": commands, "load.sh": read(t, "examples/kind/load.sh")} {
		check := exec.Command("bash", "-n")
		check.Stdin = strings.NewReader(script)
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	for _, file := range regexp.MustCompile(`\b(?:examples|manifests)/[\w./-]+\w`).FindAllString(text, -1) {
		if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			t.Error(err)
		}
	}
	i := install(t, filepath.Join(root, "manifests/rendered/kind.yaml"))
	patch := regexp.MustCompile(`patch daemonset (\S+) --type json -p '(.*)'`).FindStringSubmatch(commands)
	if patch == nil || patch[1] != i.daemonSet.Name || !strings.Contains(commands, "-n "+i.daemonSet.Namespace+" patch") {
		t.Fatalf("patch %q of a DaemonSet %s", patch, i.daemonSet.Name)
	}
	var operations []struct{ Op, Path, Value string }
	if err := json.Unmarshal([]byte(patch[2]), &operations); err != nil || len(operations) != 1 {
		t.Fatalf("%s: %v", patch[2], err)
	}
	if o := operations[0]; o.Op != "add" || o.Path != "/spec/template/spec/containers/0/args/-" {
		t.Errorf("%+v", o)
	}
	args := []string{"proxy", "--dry-run", "-f", filepath.Join(root, "examples/kind/moment.yaml"), "--node", "lameduck-worker"}
	if rules := lameduck(t, append(args, operations[0].Value)...); strings.Contains(rules, "10.244.1.2") {
		t.Errorf("%s uses an endpoint that terminates:\n%s", operations[0].Value, rules)
	}
	if rules := lameduck(t, args...); !strings.Contains(rules, "10.244.1.2") {
		t.Errorf("without %s the endpoint is not used, either:\n%s", operations[0].Value, rules)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The application is what the text says: its ports are those that are asked, and its pods serve longer than is looked at.
func TestKindApp(t *testing.T) {
	t.Parallel()
	objects := decode(t, filepath.Join(root, "examples/kind/app.yaml"))
	if len(objects) != 2 {
		t.Fatalf("%d objects", len(objects))
	}
	deployment, ok := objects[0].(*appsv1.Deployment)
	service, ok2 := objects[1].(*corev1.Service)
	if !ok || !ok2 {
		t.Fatalf("%T, %T", objects[0], objects[1])
	}
	_, commands := walkThrough(t)
	for _, want := range []string{"deployment/" + deployment.Name, ":30080/hostname", ":31234", "-l app=" + deployment.Spec.Template.Labels["app"] + " "} {
		if !strings.Contains(commands, want) {
			t.Errorf("the commands do not contain %q", want)
		}
	}
	if p := service.Spec.Ports[0]; p.NodePort != 30080 || service.Spec.HealthCheckNodePort != 31234 || service.Spec.ExternalTrafficPolicy != corev1.ServiceExternalTrafficPolicyLocal {
		t.Errorf("the Service: %+v", service.Spec)
	}
	pod := deployment.Spec.Template
	if diff := cmp.Diff(service.Spec.Selector, pod.Labels); diff != "" {
		t.Errorf("the Service does not select the pods (-selector +labels):\n%s", diff)
	}
	if hook := pod.Spec.Containers[0].Lifecycle.PreStop.Exec.Command; strings.Join(hook, " ") != "sleep 60" || *pod.Spec.TerminationGracePeriodSeconds <= 60 {
		t.Errorf("preStop %q, grace period %d s", hook, *pod.Spec.TerminationGracePeriodSeconds)
	}
}

// load.sh counts what is answered and what is not.
func TestLoad(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		backendtest.Lacking(t, "%v", err)
	}
	asked := 0
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked > 7 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(app.Close)
	health := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	t.Cleanup(health.Close)
	load := exec.Command("bash", "-s", "--", app.URL, health.URL, "12", "0")
	load.Stdin = strings.NewReader(read(t, "examples/kind/load.sh"))
	out, err := load.CombinedOutput()
	if want := "answered 7, lost 3, health port 503\nanswered 7, lost 5, health port 503\n"; err != nil || string(out) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out, want)
	}
}

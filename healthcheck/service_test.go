package healthcheck

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

func header(kv ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(kv); i += 2 {
		h.Set(kv[i], kv[i+1])
	}
	return h
}

// wantAnswer compares all three parts: the value that matters is what goes over the wire.
func wantAnswer(t *testing.T, got, want Answer) {
	t.Helper()
	if diff := cmp.Diff(wire(want), wire(got)); diff != "" {
		t.Errorf("answer differs (-want +got):\n%s", diff)
	}
	if got.OK() != (want.Status == http.StatusOK) {
		t.Errorf("OK() is %v with status %d", got.OK(), got.Status)
	}
}

type wireAnswer struct {
	Status int
	Header http.Header
	Body   string
}

func wire(a Answer) wireAnswer { return wireAnswer{a.Status, a.Header, string(a.Body)} }

func body(lines ...string) []byte { return []byte(strings.Join(lines, "\n")) }

// Reference: kube-proxy 1.36 pkg/proxy/healthcheck/service_health.go, hcHandler.ServeHTTP;
// docs/model/kube-proxy.md 5.1.
func TestServiceAnswer(t *testing.T) {
	t.Parallel()
	shop := endpoints.ServiceName{Namespace: "shop", Name: "cart"}
	current := endpoints.CurrentOptions()
	old := endpoints.Options{}
	withInfo := endpoints.Options{ServiceHealthInfo: true}

	tests := map[string]struct {
		local   int
		healthy bool
		options endpoints.Options
		want    Answer
	}{
		"local ready endpoints and a healthy proxy pass with the count as weight": {2, true, current, Answer{200,
			header("Content-Type", "application/json", "X-Content-Type-Options", "nosniff", "X-Load-Balancing-Endpoint-Weight", "2"),
			body("{", "\t\"service\": {", "\t\t\"namespace\": \"shop\",", "\t\t\"name\": \"cart\"", "\t},", "\t\"localEndpoints\": 2,", "\t\"serviceProxyHealthy\": true", "}")}},
		"no local ready endpoint fails with 503, not the KEP's 500": {0, true, current, Answer{503,
			header("Content-Type", "application/json", "X-Content-Type-Options", "nosniff", "X-Load-Balancing-Endpoint-Weight", "0"),
			body("{", "\t\"service\": {", "\t\t\"namespace\": \"shop\",", "\t\t\"name\": \"cart\"", "\t},", "\t\"localEndpoints\": 0,", "\t\"serviceProxyHealthy\": true", "}")}},
		"an unhealthy proxy fails and still shows its count": {11, false, current, Answer{503,
			header("Content-Type", "application/json", "X-Content-Type-Options", "nosniff", "X-Load-Balancing-Endpoint-Weight", "11"),
			body("{", "\t\"service\": {", "\t\t\"namespace\": \"shop\",", "\t\t\"name\": \"cart\"", "\t},", "\t\"localEndpoints\": 11,", "\t\"serviceProxyHealthy\": false", "}")}},
		"an unhealthy proxy without endpoints fails": {0, false, current, Answer{503,
			header("Content-Type", "application/json", "X-Content-Type-Options", "nosniff", "X-Load-Balancing-Endpoint-Weight", "0"),
			body("{", "\t\"service\": {", "\t\t\"namespace\": \"shop\",", "\t\t\"name\": \"cart\"", "\t},", "\t\"localEndpoints\": 0,", "\t\"serviceProxyHealthy\": false", "}")}},
		"before 1.27 an unhealthy proxy passes and is not mentioned": {1, false, old, Answer{200,
			header("Content-Type", "application/json", "X-Content-Type-Options", "nosniff"),
			body("{", "\t\"service\": {", "\t\t\"namespace\": \"shop\",", "\t\t\"name\": \"cart\"", "\t},", "\t\"localEndpoints\": 1", "}")}},
		"before 1.27 no local ready endpoint fails": {0, true, old, Answer{503,
			header("Content-Type", "application/json", "X-Content-Type-Options", "nosniff"),
			body("{", "\t\"service\": {", "\t\t\"namespace\": \"shop\",", "\t\t\"name\": \"cart\"", "\t},", "\t\"localEndpoints\": 0", "}")}},
		"between 1.27 and 1.30 there is no weight header": {1, true, withInfo, Answer{200,
			header("Content-Type", "application/json", "X-Content-Type-Options", "nosniff"),
			body("{", "\t\"service\": {", "\t\t\"namespace\": \"shop\",", "\t\t\"name\": \"cart\"", "\t},", "\t\"localEndpoints\": 1,", "\t\"serviceProxyHealthy\": true", "}")}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := Service{Name: shop, Family: endpoints.IPv4, Port: 30100, LocalEndpoints: tt.local}
			wantAnswer(t, ServiceAnswer(s, tt.healthy, tt.options), tt.want)
			if got := s.OK(tt.healthy, tt.options); got != (tt.want.Status == 200) {
				t.Errorf("Service.OK() is %v, the answer's status %d", got, tt.want.Status)
			}
		})
	}
}

func TestServiceAnswerIsJSONWhateverTheNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "a\x00b", "é", `quo"te\`, "line\nbreak", "\xff"} {
		s := Service{Name: endpoints.ServiceName{Namespace: name, Name: name}}
		for _, o := range []endpoints.Options{{}, endpoints.CurrentOptions()} {
			a := ServiceAnswer(s, true, o)
			var v struct {
				Service struct{ Namespace, Name string }
			}
			if err := json.Unmarshal(a.Body, &v); err != nil {
				t.Errorf("name %q: body %q: %v", name, a.Body, err)
			}
			if want := strings.ToValidUTF8(name, "\ufffd"); v.Service.Name != want || v.Service.Namespace != want {
				t.Errorf("name %q comes back as %+v", name, v)
			}
		}
	}
}

func TestAnswersShareNothing(t *testing.T) {
	t.Parallel()
	s := Service{LocalEndpoints: 1}
	a, b := ServiceAnswer(s, true, endpoints.CurrentOptions()), ServiceAnswer(s, true, endpoints.CurrentOptions())
	a.Header["Content-Type"] = []string{"x"}
	a.Body[0] = 'x'
	if http.Header(b.Header).Get("Content-Type") != "application/json" || b.Body[0] != '{' {
		t.Error("changing one answer changed another")
	}
}

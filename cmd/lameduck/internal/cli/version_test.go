package cli

import (
	"runtime"
	"testing"
)

// What a build says of itself goes before what the go tool has noted: an image is built without a repository. Without it the
// revision is the go tool's, or none. The test changes what the build says, so it runs alone.
func TestTheVersionOfABuild(t *testing.T) {
	version, revision := stampedVersion, stampedRevision
	defer func() { stampedVersion, stampedRevision = version, revision }()
	stampedVersion, stampedRevision = "v1.2.3", "abcdef"
	if v := currentVersion(); v.Version != "v1.2.3" || v.Revision != "abcdef" || v.Go != runtime.Version() || v.Kind != "Version" || v.KubeProxy == "" {
		t.Errorf("%+v", v)
	}
	stampedVersion, stampedRevision = "", "abcdef"
	if v := currentVersion(); v.Version == "" || v.Version == "v1.2.3" || v.Revision == "abcdef" || v.Go != runtime.Version() {
		t.Errorf("%+v", v)
	}
}

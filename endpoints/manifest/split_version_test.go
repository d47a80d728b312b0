package manifest

import "testing"

// A document may say that it is YAML 1.1 or 1.2 (YAML 1.2.2, 6.8.1), with its positions as they are.
func TestAVersionOfYAMLMayBeSaid(t *testing.T) {
	t.Parallel()
	const node = "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"
	for _, text := range []string{
		"%YAML 1.2\n" + node, "%YAML 1.1 # old\n" + node, "# a comment\n\n%YAML 1.2\n" + node,
		"%YAML 1.2\n%TAG ! tag:example.com,2000:\n" + node, "%YAML 1.2\r\n" + node,
		node + "...\n%YAML 1.2\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n",
	} {
		objects, problems := Load([]File{{Name: "in.yaml", Data: []byte(text)}}, Options{})
		if len(problems) > 0 || len(objects.Nodes) != 1 {
			t.Errorf("%q: %d Nodes, %v", text, len(objects.Nodes), problems)
		}
	}
	objects, _ := Load([]File{{Name: "in.yaml", Data: []byte("%YAML 1.2\n" + node)}}, Options{})
	if got, want := objects.Nodes[0].ValueAt("metadata.name").String(), "in.yaml:5:18"; got != want {
		t.Errorf("the name is at %s, want %s", got, want)
	}
	if _, problems := Load([]File{{Name: "in.yaml", Data: []byte("%YAML 3.0\n" + node)}}, Options{}); !HasErrors(problems) {
		t.Error("YAML 3.0 is read")
	}
}

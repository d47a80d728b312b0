package sim_test

import (
	"fmt"
	"os"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// A rolling restart of the web app of examples/, as it is and with the recommended manifest,
// under 100 new connections a second.
func ExampleRun() {
	for _, file := range []string{"web-app.yaml", "web-app-recommended.yaml"} {
		data, err := os.ReadFile("../examples/" + file)
		if err != nil {
			fmt.Println(err)
			return
		}
		objects, _ := manifest.Load([]manifest.File{{Name: file, Data: data}}, manifest.Options{})
		cases, _ := scenario.Infer(objects, scenario.Options{})
		result, err := sim.Run(cases[0].Scenario, 1)
		if err != nil {
			fmt.Println(err)
			return
		}
		stream := result.Streams[0]
		fmt.Printf("%s, %s: loses something: %v\n", file, stream.Name, stream.Failed > 0)
	}
	// Output:
	// web-app.yaml, new connections: loses something: true
	// web-app-recommended.yaml, new connections: loses something: false
}

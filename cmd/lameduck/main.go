// Command lameduck says what a Kubernetes rollout does to traffic: which
// endpoints a node uses and why (explain), and where one packet goes (trace).
//
// It runs as `lameduck` and, installed as kubectl-lameduck, as `kubectl lameduck`.
package main

import (
	"os"

	"github.com/lameduck-proxy/lameduck/cmd/lameduck/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args, cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

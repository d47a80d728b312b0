package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	verbose := flag.Bool("v", false, "print what every test says")
	of := flag.String("of", "", "what comes after a figure that has to be told and is not 0, such as \"cases compared\"")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "go test -json PACKAGES | count [flags] [PACKAGE that has to run a test]...")
		flag.PrintDefaults()
	}
	flag.Parse()
	c := newCounter(os.Stdout, *verbose, *of)
	err := c.read(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "count:", err)
	}
	if well := c.sum(flag.Args()); err != nil || !well {
		os.Exit(1)
	}
}

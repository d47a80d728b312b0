package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	verbose := flag.Bool("v", false, "print what every test says")
	of := flag.String("of", "", "what comes after a figure that has to be told and is not 0, such as \"cases compared\"")
	percent := flag.Float64("cover", 0, "print what a coverage profile on standard input says of each package, and ask for so much")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "go test -json PACKAGES | count [flags] [PACKAGE that has to run a test]...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if *percent > 0 {
		os.Exit(cover(*percent))
	}
	c := newCounter(os.Stdout, *verbose, *of)
	err := c.read(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "count:", err)
	}
	if well := c.sum(flag.Args()); err != nil || !well {
		os.Exit(1)
	}
}

// cover prints the table of a profile and returns the exit code.
func cover(percent float64) int {
	packages, err := readProfile(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "count:", err)
		return 1
	}
	if !printTable(os.Stdout, packages, percent) {
		return 1
	}
	return 0
}

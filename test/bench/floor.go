package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lameduck-proxy/lameduck/test/bench/objects"
	"github.com/lameduck-proxy/lameduck/test/bench/table"
)

// The floor is what the kernel takes for the elements themselves: the batches that lameduck
// sends, encoded beforehand. It is measured by the benchmarks of proxier/nftables, whose names
// end in /raw, with the sizes that they have.
const (
	floorName    = "raw netlink"
	floorProgram = "nftables.test"
)

func (s *settings) hasFloor() bool {
	_, err := os.Stat(s.program(floorProgram))
	return err == nil
}

// floors says which benchmark is the floor of which rows.
func floors() map[string][]string {
	return map[string][]string{
		"WholeLoad": {rowFirstSync}, "OneEndpointReplaced": {rowReplaced}, "CountChanged": {rowShrunk, rowGrown}, "OneServiceAddedOrRemoved": {rowAdded},
	}
}

// floor runs the benchmarks of a size, if there are any.
func (s *settings) floor(ctx context.Context, mode string, size objects.Size) (table.Column, error) {
	c := table.Column{}
	if mode != modeNFTables || ctx.Err() != nil {
		return c, nil
	}
	s.progress("%s, %s", size, floorName)
	for name, rows := range floors() { // order: each is measured by itself
		times := "200x"
		if slices.Contains(rows, rowFirstSync) {
			times = "10x"
		}
		cmd := exec.CommandContext(ctx, s.program(floorProgram), "-test.run=^$", "-test.benchtime="+times, // a program of ours
			"-test.bench=^Benchmark"+name+"$/^"+size.String()+"$/^raw$")
		out, err := cmd.Output()
		if err != nil {
			return c, fmt.Errorf("%s, %s: %w", floorName, name, err)
		}
		if sample, ok := parseFloor(string(out)); ok {
			for _, row := range rows {
				c.Add(map[string]table.Sample{row: sample})
			}
		}
	}
	return c, nil
}

// parseFloor reads the median of a benchmark and how often it ran.
func parseFloor(out string) (table.Sample, bool) {
	line := regexp.MustCompile(`^Benchmark\S+/raw\S*\s+(\d+)\s.*\s([0-9.]+) p50-us`)
	lines := bufio.NewScanner(strings.NewReader(out))
	for lines.Scan() {
		m := line.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		n, errN := strconv.Atoi(m[1])
		us, errUS := strconv.ParseFloat(m[2], 64)
		return table.Sample{Value: us / 1e6, N: n}, errN == nil && errUS == nil
	}
	return table.Sample{}, false
}

// Package servers knows what programs do at SIGTERM and in a preStop hook, and how a container gives
// away which program runs in it: its image, command, arguments, environment, probes and labels.
// Profiles are the table; a program that stands in hooks has a function. It needs nothing but the
// container and says what the answer was taken from.
package servers

// Package server keeps a socket open for those who ask a node's service proxy about itself: a Socket is served until it is
// no longer wanted. One that cannot be opened, since somebody else has the port, is reported and tried again, never the end
// of the proxy. The package decides nothing about what is answered.
package server

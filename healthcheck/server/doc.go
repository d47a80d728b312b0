// Package server opens the sockets on which a node's service proxy is asked for its health, and closes them again.
//
//	healthcheck.Table, addresses -> Follow -> one Socket for each port and address -> healthcheck.Table.Answer
//	/healthz, /livez             -> one Socket -> healthcheck.Healthz, Livez
//
// What is answered is package healthcheck's to say; the moment it is asked at is read here. The package decides nothing
// about rules, and nobody waits for it: Follow returns at once, and a socket that cannot be opened, since another program has
// the port, is reported and tried again, never the end of the proxy.
//
// A Service's port is open as long as the Service is in force. Where one ends while its socket closes, or another
// Service gets the port, the socket answers by the Table of that moment.
package server

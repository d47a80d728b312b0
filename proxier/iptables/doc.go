// Package iptables is the dataplane of a node in the kernel's iptables, in the chains and under
// the names that kube-proxy gives them.
//
// KUBE-SERVICES leads an address to the chain of a service port, KUBE-SVC for all endpoints,
// KUBE-SVL for this node's, KUBE-EXT for what comes from outside the cluster's addresses, and
// KUBE-FW before it where source ranges limit that. The filter table refuses what has no
// endpoint to go to.
//
//	plan.Plan, plan.Delta -> state (chains of a Service) -> change -> text -> iptables-restore
//	plan.Node             -> layout (chains there is one of) -^
//
// Everything up to the text is a pure function of values; exec_linux.go runs the tools. A change
// writes the chains that change and no other: iptables-restore --noflush, the nat table in one
// transaction (iptables-legacy swaps tables as a whole, iptables-nft commits once), so a packet
// meets a Service's old endpoints or its new ones. What refuses is written before what
// translates goes away, and removed after it has come (change.text). Established flows are
// connection tracking's and meet no rule of ours, but one that accepts them.
//
// # Endpoints without chains
//
// kube-proxy gives each endpoint a chain, to masquerade packets that come back to where they
// came from. Here one rule in KUBE-POSTROUTING does that for all: a program of the classic
// packet filter compares source and destination. It takes five sixths of the chains away, and
// they are what iptables-nft's time grows with the square of. Endpoints with session affinity
// keep theirs, since what is remembered is a chain; and all have one where the kernel lacks
// xt_bpf, or Options.EndpointChains asks for it.
//
// # Whose chains
//
// With kube-proxy's names this package takes kube-proxy's chains over: the first Apply reads
// what is there, writes all chains again and removes those of service ports that are not in the
// Plan, with what led to them, in the transaction that puts the new ones in force. An earlier
// run's are taken over in the same way. So no connection is lost to the change, whichever program wrote the rules before.
//
// Two programs that write the same chains would undo each other's work. A kube-proxy shows by
// its canary: an empty chain KUBE-PROXY-CANARY in the tables mangle, nat and filter, which it
// makes at its start, looks for every syncPeriod (30 s), and makes again when it is gone, after
// which it writes all its rules (kube-proxy 1.36, util/iptables Monitor). One that is found at
// the start is no proof: a kube-proxy that was killed leaves it behind. So it is removed, in the
// transaction that makes a canary of our own, and nobody has to wait: from then on both in one
// table mean that another program made the other one after ours. Whatever looks next, a Check, a
// Resync, or New in a later process, reports ErrKubeProxy, and from then on the Backend touches
// nothing: the kube-proxy has written its rules already and is left to it. Our own canary has a
// name of its own, since a kube-proxy that finds a chain of its canary's name takes it for its
// own, and would never show. What is missed is a kube-proxy that starts and ends between two
// looks and removes its canary, and one that has another prefix, or is in nftables mode: it
// has other chains. Options.TakeOver leaves the other canary alone and goes on.
//
// # What is noticed
//
// An Apply without a difference, and Check, read the tables and compare: our canary in each (a
// flush takes it), the rules that lead to our chains, each chain with its number of rules, and a
// fingerprint of all rules with that of the last look if nothing was applied in between. A
// change that fails because another program took a chain away is followed by writing all.
//
// Watch says within moments that another program changed iptables-nft, and with that when to look.
// iptables-legacy tells nobody.
//
// How packets are treated is kube-proxy's iptables mode as package plan has it. It speaks
// plan.IPTables and no other dialect.
package iptables

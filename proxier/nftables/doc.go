// Package nftables is the dataplane of a node in the kernel's nftables: maps instead of chains.
//
// A Plan becomes elements of a few maps in one table per IP family, called lameduck. What a
// packet meets is always the same small set of chains: `frontends` maps an address, protocol
// and port to a class number, `classes` maps that to a chain, and the chain of a class draws an
// index and looks the endpoint up under (address, protocol, port, index). Nothing that grows
// with the number of Services is a chain or a rule, since those are what the kernel charges
// for; elements cost it next to nothing.
//
//	plan.Plan, plan.Delta -> state (elements) -> transaction -> netlink
//	plan.Node             -> layout (sets, chains, rules) -^
//
// Everything up to the transaction is a pure function of values. Files that end in _linux.go
// turn it into one netlink batch, which the kernel takes as a whole or not at all. The package
// knows what it programmed and does not list it: a change costs itself. It notices by the
// kernel's generation number that another program changed the ruleset, with Watch by its
// notifications, and fills the whole of its own tables again in one transaction when they are no
// longer what it left: no packet loses its way meanwhile. Nothing outside its
// tables is ever touched, and connection tracking is not its business.
//
// How packets are treated is kube-proxy's nftables mode as package plan has it; where the two
// differ, README.md says so. It speaks plan.NFTables and no other dialect.
package nftables

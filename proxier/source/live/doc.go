// Package live reads objects once from the API server of the cluster that a kubeconfig names. It answers: which
// manifests would a user have written to a file for the same question? It only ever asks with GET, decides nothing, and
// does not parse what it hands on; that is endpoints/manifest.
//
// The one data path: Options -> Connect -> Cluster.Read -> Objects -> manifest.Load.
//
// Each object is a file of its own, with the YAML that kubectl get -o yaml prints of it, so that a position in a message
// is one that a user can look up. What may not be read is said with the right that is missing and with what an answer
// then lacks; only what an answer cannot do without is an error.
package live

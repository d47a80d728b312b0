package component

import (
	"errors"
	"flag"
	"fmt"
	"net/url"

	"go.etcd.io/etcd/server/v3/embed"
)

// etcd is a store of one member for one API server of the same place. It never waits for a disk:
// it ends with the test that it is for.
func etcd(args []string) error {
	flags := flag.NewFlagSet(Etcd, flag.ContinueOnError)
	dir := flags.String("data-dir", "", "where it keeps its data")
	client := flags.String("listen-client-url", "", "where it is asked")
	peer := flags.String("listen-peer-url", "", "where another member would ask it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	config := embed.NewConfig()
	config.Dir, config.UnsafeNoFsync, config.LogLevel = *dir, true, "error"
	clientURL, errClient := url.Parse(*client)
	peerURL, errPeer := url.Parse(*peer)
	if err := errors.Join(errClient, errPeer); err != nil {
		return err
	}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{*clientURL}, []url.URL{*clientURL}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{*peerURL}, []url.URL{*peerURL}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	e, err := embed.StartEtcd(config)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	return <-e.Err()
}

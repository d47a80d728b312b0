package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// authority is the cluster's certificate authority: it vouches for the API server and for
// everybody who asks it.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	serial      atomic.Int64
	pem         []byte
}

// pair is a certificate and its key, both as PEM.
type pair struct{ certificate, key []byte }

const lifetime = 24 * time.Hour

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "lameduck-e2e"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(lifetime), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("sign the authority's own certificate: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read the authority's own certificate: %w", err)
	}
	a := &authority{certificate: certificate, key: key, pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
	a.serial.Store(1)
	return a, nil
}

// client vouches for a user and the groups it is in.
func (a *authority) client(user string, groups ...string) (pair, error) {
	return a.issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: user, Organization: groups}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// server vouches for a server that is asked at these addresses.
func (a *authority) server(addrs []netip.Addr) (pair, error) {
	c := &x509.Certificate{
		Subject: pkix.Name{CommonName: "kube-apiserver"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{"kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost"},
	}
	for _, addr := range addrs {
		c.IPAddresses = append(c.IPAddresses, net.IP(addr.AsSlice()))
	}
	return a.issue(c)
}

func (a *authority) issue(template *x509.Certificate) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, fmt.Errorf("make a key: %w", err)
	}
	template.SerialNumber = big.NewInt(a.serial.Add(1))
	template.NotBefore, template.NotAfter = a.certificate.NotBefore, a.certificate.NotAfter
	template.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return pair{}, fmt.Errorf("sign the certificate of %s: %w", template.Subject.CommonName, err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return pair{}, fmt.Errorf("encode the key of %s: %w", template.Subject.CommonName, err)
	}
	return pair{
		certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:         pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}),
	}, nil
}

// write keeps a pair in files, NAME.crt and NAME.key.
func (p pair) write(dir, name string) error {
	return errors.Join(
		os.WriteFile(filepath.Join(dir, name+".crt"), p.certificate, 0o600),
		os.WriteFile(filepath.Join(dir, name+".key"), p.key, 0o600),
	)
}

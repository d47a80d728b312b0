//go:build linux

package deploy

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"
)

// cage is what a container's runtime makes of the manifests' securityContext: a root that is read-only, few capabilities, and
// no way to get more.
type cage struct {
	Program string // the binary, a file of the machine's
	Root    string // an empty directory, to be mounted over
	Tools   bool   // with the machine's own files, for the tools of iptables; else the root has nothing but the binary
	Keep    []int  // capabilities
	Ambient bool   // have somebody other than root keep them, too
	UID     int
	Args    []string
	Files   map[string]string // below files, by name
}

// files is the directory that the manifests mount the ConfigMap at.
const files = "/var/lib/kube-proxy/"

// caged is the environment variable that has a process of this test become the cage it describes.
const caged = "LAMEDUCK_DEPLOY_CAGE"

// inside is where the binary lies in a cage: a directory that every machine has.
const inside = "/mnt/lameduck"

// enter turns this process into the program. It needs a mount namespace of its own, and does not return but for an error.
func enter(description string) error {
	runtime.LockOSThread() // what follows is the thread's, and exec's
	var c cage
	if err := json.Unmarshal([]byte(description), &c); err != nil {
		return err
	}
	if err := c.furnish(); err != nil {
		return err
	}
	if err := errors.Join(unix.Chroot(c.Root), unix.Chdir("/")); err != nil {
		return fmt.Errorf("chroot: %w", err)
	}
	if err := c.drop(); err != nil {
		return err
	}
	return unix.Exec(inside, append([]string{inside}, c.Args...), []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"})
}

// mount is one of those that make up a root.
type mount struct {
	what, where, kind string
	flags             uintptr
}

// furnish makes the root that the program sees.
func (c *cage) furnish() error {
	mounts := []mount{{"", "/", "", unix.MS_REC | unix.MS_PRIVATE}, {"tmpfs", c.Root, "tmpfs", 0}}
	if c.Tools {
		mounts[1] = mount{"/", c.Root, "", unix.MS_BIND | unix.MS_REC}
		mounts = append(mounts, mount{"tmpfs", c.Root + "/mnt", "tmpfs", 0}, mount{"tmpfs", c.Root + "/run", "tmpfs", 0}, mount{"tmpfs", c.Root + "/var/lib", "tmpfs", 0})
	}
	if err := doMounts(mounts...); err != nil {
		return err
	}
	for _, d := range []string{"/mnt", "/run", "/proc", "/tmp", files} {
		if err := os.MkdirAll(c.Root+d, 0o755); err != nil {
			return err
		}
	}
	lock := c.Root + "/run/xtables.lock"
	for _, f := range []string{c.Root + inside, lock} {
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			return err
		}
	}
	for name, text := range c.Files { // order: each by itself
		if err := os.WriteFile(c.Root+files+name, []byte(text), 0o444); err != nil {
			return err
		}
	}
	err := doMounts(
		mount{c.Program, c.Root + inside, "", unix.MS_BIND}, mount{"/proc", c.Root + "/proc", "", unix.MS_BIND | unix.MS_REC},
		mount{"tmpfs", c.Root + "/tmp", "tmpfs", 0}, // the test's files are there
		mount{lock, lock, "", unix.MS_BIND},
	)
	if err != nil {
		return err
	}
	readOnly := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, c.Root, unix.AT_RECURSIVE, &readOnly); err != nil {
		return fmt.Errorf("make the root read-only: %w", err)
	}
	if slices.Contains(c.Keep, unix.CAP_NET_RAW) { // the manifest that has the one has the other
		return doMounts(mount{"", lock, "", unix.MS_BIND | unix.MS_REMOUNT})
	}
	return nil
}

func doMounts(mounts ...mount) error {
	for _, m := range mounts {
		if err := unix.Mount(m.what, m.where, m.kind, m.flags, ""); err != nil {
			return fmt.Errorf("mount %+v: %w", m, err)
		}
	}
	return nil
}

// drop gives up all rights but those to keep, for good.
func (c *cage) drop() error {
	var kept uint64
	for _, k := range c.Keep {
		kept |= 1 << k
	}
	for k := range unix.CAP_LAST_CAP + 1 {
		if kept&(1<<k) == 0 {
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(k), 0, 0, 0); err != nil {
				return fmt.Errorf("drop capability %d: %w", k, err)
			}
		}
	}
	if err := unix.Prctl(unix.PR_SET_KEEPCAPS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("keep capabilities: %w", err)
	}
	if c.UID != 0 {
		if err := errors.Join(unix.Setgroups(nil), unix.Setresgid(c.UID, c.UID, c.UID), unix.Setresuid(c.UID, c.UID, c.UID)); err != nil {
			return fmt.Errorf("become user %d: %w", c.UID, err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	return c.capset(kept)
}

func (c *cage) capset(kept uint64) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	for i := range sets {
		half := uint32(kept >> (32 * i)) // half of it is meant
		sets[i] = unix.CapUserData{Effective: half, Permitted: half}
		if c.Ambient {
			sets[i].Inheritable = half
		}
	}
	if err := unix.Capset(&header, &sets[0]); err != nil {
		return fmt.Errorf("capset: %w", err)
	}
	if !c.Ambient {
		return nil
	}
	for _, k := range c.Keep {
		if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, uintptr(k), 0, 0); err != nil {
			return fmt.Errorf("ambient capability %d: %w", k, err)
		}
	}
	return nil
}

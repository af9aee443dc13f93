package pgcluster

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// orphanLimit is the bar: how long anything may outlive a killed program.
const orphanLimit = 2 * time.Second

func TestNothingOutlivesAKilledProgram(t *testing.T) {
	for _, role := range []string{"running", "paused"} {
		t.Run(role, func(t *testing.T) {
			h := startHelper(t, role, false)
			family, err := children(h.server)
			check(t, err)
			check(t, h.cmd.Process.Kill())
			eventually(t, orphanLimit, "every process has ended", func() bool {
				for _, pid := range append(family, h.server) {
					if !ended(pid) {
						return false
					}
				}
				return true
			})
			eventually(t, orphanLimit, "the folder is gone", func() bool { return missing(h.folder) })
		})
	}
}

func TestNeitherPrimaryNorStandbyOutlivesAKilledProgram(t *testing.T) {
	h := startHelper(t, "standby", false)
	folders, err := filepath.Glob(filepath.Join(filepath.Dir(h.folder), folderPrefix+"*"))
	check(t, err)
	if len(folders) != 2 {
		t.Fatalf("there are %d clusters", len(folders))
	}
	var family []int
	for _, folder := range folders {
		server := postmasterOf(t, folder)
		offspring, err := children(server)
		check(t, err)
		family = append(append(family, server), offspring...)
	}
	check(t, h.cmd.Process.Kill())
	eventually(t, orphanLimit, "every process has ended", func() bool { return !slices.ContainsFunc(family, alive) })
	for _, folder := range folders {
		eventually(t, orphanLimit, "the folder is gone", func() bool { return missing(folder) })
	}
}

func alive(pid int) bool { return !ended(pid) }

// postmasterOf reads the server's process id from its folder.
func postmasterOf(t *testing.T, folder string) (pid int) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, "data", "postmaster.pid"))
	check(t, err)
	_, err = fmt.Sscan(string(content), &pid)
	check(t, err)
	return pid
}

// With the guardian killed as well, the kernel's signal ends the server, and the
// next start beside it removes the folder.
func TestTheNextStartSweepsWhatIsLeft(t *testing.T) {
	h := startHelper(t, "panics", false)
	family, err := children(h.server)
	check(t, err)
	check(t, h.input.Close())
	_ = h.cmd.Wait()
	for _, pid := range append(family, h.server) {
		eventually(t, orphanLimit, "the processes have ended", func() bool { return ended(pid) })
	}
	if missing(h.folder) {
		t.Fatal("the folder is gone before anybody could sweep it")
	}
	startCluster(t, Options{Dir: filepath.Dir(h.folder)})
	if !missing(h.folder) {
		t.Errorf("%s was not swept", h.folder)
	}
}

func TestALivingProgramsFolderIsNotSwept(t *testing.T) {
	h := startHelper(t, "running", false)
	startCluster(t, Options{Dir: filepath.Dir(h.folder)})
	if missing(filepath.Join(h.folder, "data", "PG_VERSION")) {
		t.Error("the folder of a living program was swept")
	}
}

func TestOnlyFoldersOfGoneProgramsAreAbandoned(t *testing.T) {
	base := t.TempDir()
	const unused = "999999999" // above the kernel's highest process id
	for name, want := range map[string]bool{
		folderPrefix + unused + "-1": true,
		folderPrefix + "1-1":         false,
		folderPrefix + "x-1":         false,
		folderPrefix + "-1":          false,
		folderPrefix + "0-1":         false,
		"other-" + unused + "-1":     false,
	} {
		path := filepath.Join(base, name)
		check(t, os.Mkdir(path, 0o700))
		if got := abandoned(path); got != want {
			t.Errorf("%s: abandoned is %v", name, got)
		}
	}
}

// A locked folder whose owner's id means nothing here belongs to another container.
func TestALockedFolderIsNotAbandoned(t *testing.T) {
	f := &folder{path: filepath.Join(t.TempDir(), folderPrefix+"999999999-1")}
	check(t, os.Mkdir(f.path, 0o700))
	check(t, f.claim(nil))
	if abandoned(f.path) {
		t.Error("a locked folder counts as abandoned")
	}
	check(t, f.owner.Close())
	if !abandoned(f.path) {
		t.Error("an unlocked folder of a gone program does not count as abandoned")
	}
}

func TestAnOrdinaryUserStartsAndStopsACluster(t *testing.T) {
	h := startHelper(t, "running", true)
	if ended(h.server) {
		t.Fatal("the server does not run")
	}
	check(t, h.input.Close())
	check(t, h.cmd.Wait())
	if !ended(h.server) || !missing(h.folder) {
		t.Error("the server or its folder is still there")
	}
}

func TestAFolderThatTheServerCannotReachIsRefused(t *testing.T) {
	closed := filepath.Join(openFolder(t), "closed")
	check(t, os.MkdirAll(filepath.Join(closed, "inner"), 0o700))
	stranger := &account{name: "stranger", uid: 4000000, gid: 4000000}
	_, err := stranger.reachable(filepath.Join(closed, "inner"))
	if err == nil || !strings.Contains(err.Error(), "closed to user stranger") {
		t.Errorf("got %v", err)
	}
	if _, err := (*account)(nil).reachable(closed); err != nil {
		t.Errorf("our own folder: %v", err)
	}
}

func TestTheTailKeepsTheEnd(t *testing.T) {
	var all strings.Builder
	log := newTail(&all)
	_, _ = io.WriteString(log, strings.Repeat("x", tailSize)+"\n")
	_, _ = io.WriteString(log, "FATAL: the end\n")
	if len(log.kept) != tailSize || !strings.HasSuffix(log.quoted(), "FATAL: the end") {
		t.Errorf("kept %d bytes, ending in %q", len(log.kept), log.quoted()[len(log.quoted())-20:])
	}
	if all.Len() != tailSize+1+len("FATAL: the end\n") {
		t.Errorf("passed on %d bytes", all.Len())
	}
}

package pgcluster

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestMissingBinariesAreDownloadedOnce(t *testing.T) {
	repository, asked := standIn(t, archive(t, wrappers(t)))
	cache := openFolder(t)
	t.Setenv("PATH", t.TempDir())
	withoutInstallation(t)
	for range 2 {
		cluster, err := Start(t.Context(), Options{Fast: true, Download: Download{RepositoryURL: repository, CacheDir: cache}})
		check(t, err)
		if !strings.HasPrefix(cluster.BinDir(), cache) {
			t.Errorf("the server runs from %s", cluster.BinDir())
		}
		check(t, cluster.Stop())
	}
	if asked.Load() != 1 {
		t.Errorf("the archive was fetched %d times", asked.Load())
	}
	left, err := filepath.Glob(filepath.Join(cache, "download-*"))
	check(t, err)
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestAFailedDownloadNamesTheWaysOut(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	withoutInstallation(t)
	empty, _ := standIn(t, archive(t, map[string]string{"bin/pg_ctl": "#!/bin/sh\necho no\nexit 1\n"}))
	broken, _ := standIn(t, []byte("not a zip"))
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for name, repository := range map[string]string{
		"an archive without postgres": empty, "a broken archive": broken, "no network": closed.URL,
	} {
		cache := openFolder(t)
		_, err := Start(t.Context(), Options{Download: Download{RepositoryURL: repository, CacheDir: cache}})
		if !errors.Is(err, ErrNoBinaries) {
			t.Fatalf("%s: %v", name, err)
		}
		for _, wayOut := range []string{"install", "--dsn", "docker compose up"} {
			if !strings.Contains(err.Error(), wayOut) {
				t.Errorf("%s: %v does not name %s", name, err, wayOut)
			}
		}
		if lines := strings.Count(err.Error(), "\n"); lines > 0 {
			t.Errorf("%s: the error has %d lines too many: %v", name, lines, err)
		}
		left, err := filepath.Glob(filepath.Join(cache, "postgres-*"))
		check(t, err)
		if len(left) > 0 {
			t.Errorf("%s: a failed download counts as cached: %v", name, left)
		}
	}
}

func TestTheContextBoundsADownload(t *testing.T) {
	release := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(func() { close(release); hangs.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := Download{RepositoryURL: hangs.URL, CacheDir: t.TempDir()}.fetch(ctx)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// withoutInstallation hides the machine's own PostgreSQL from the search.
func withoutInstallation(t *testing.T) {
	t.Helper()
	usual := installFolders
	installFolders = nil
	t.Cleanup(func() { installFolders = usual })
}

// wrappers are the programs of an archive, each leading to the machine's own.
func wrappers(t *testing.T) map[string]string {
	t.Helper()
	dir, err := search(installFolders)
	check(t, err)
	programs := map[string]string{}
	for _, program := range []string{"postgres", "initdb", "pg_ctl"} {
		programs["bin/"+program] = fmt.Sprintf("#!/bin/sh\nexec %s/%s \"$@\"\n", dir, program)
	}
	return programs
}

// standIn serves the archive as the public repository would, and counts.
func standIn(t *testing.T, jar []byte) (url string, asked *atomic.Int32) {
	t.Helper()
	asked = new(atomic.Int32)
	sum := sha256.Sum256(jar)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".sha256") {
			_, _ = w.Write([]byte(hex.EncodeToString(sum[:])))
			return
		}
		asked.Add(1)
		_, _ = w.Write(jar)
	}))
	t.Cleanup(func() { server.Close(); http.DefaultClient.CloseIdleConnections() })
	return server.URL, asked
}

// archive packs files as the public archives are packed: tar in xz in zip.
func archive(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var packed, jar bytes.Buffer
	writer := tar.NewWriter(&packed)
	for name, content := range files {
		check(t, writer.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content)), Typeflag: tar.TypeReg}))
		_, err := writer.Write([]byte(content))
		check(t, err)
	}
	check(t, writer.Close())
	zipper := zip.NewWriter(&jar)
	entry, err := zipper.Create("postgres.txz")
	check(t, err)
	_, err = entry.Write(storedXZ(packed.Bytes()))
	check(t, err)
	check(t, zipper.Close())
	return jar.Bytes()
}

// storedXZ wraps at most 64 KiB as an xz stream of one uncompressed chunk, since
// neither Go's library nor every machine can compress to xz.
func storedXZ(content []byte) []byte {
	flags := []byte{0x00, 0x01} // the check is a CRC-32
	stream := append([]byte("\xfd7zXZ\x00"), withCRC(flags)...)
	header := withCRC([]byte{2, 0, 0x21, 1, 0x10, 0, 0, 0}) // one filter: LZMA2
	chunk := binary.BigEndian.AppendUint16([]byte{0x01}, uint16(len(content)-1))
	chunk = append(append(chunk, content...), 0)
	stream = append(append(stream, header...), padded(chunk)...)
	stream = binary.LittleEndian.AppendUint32(stream, crc32.ChecksumIEEE(content))

	index := binary.AppendUvarint([]byte{0, 1}, uint64(len(header)+len(chunk)+crc32.Size))
	index = withCRC(padded(binary.AppendUvarint(index, uint64(len(content)))))
	footer := append(binary.LittleEndian.AppendUint32(nil, uint32(len(index)/4-1)), flags...)
	stream = binary.LittleEndian.AppendUint32(append(stream, index...), crc32.ChecksumIEEE(footer))
	return append(append(stream, footer...), "YZ"...)
}

func padded(block []byte) []byte {
	return append(block, make([]byte, -len(block)&3)...)
}

func withCRC(field []byte) []byte {
	return binary.LittleEndian.AppendUint32(bytes.Clone(field), crc32.ChecksumIEEE(field))
}

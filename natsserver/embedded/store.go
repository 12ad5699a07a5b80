package embedded

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/minio/highwayhash"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"
)

// The server repairs a damaged store by leaving out what it can't read: it drops a
// stream whose description is damaged, and truncates a block of messages at the
// first bad one. It only logs that and starts. Losing games silently is worse
// than not starting, so the store is checked before the server opens it. The
// layout is that of nats-server v2:
//
//	<account>/streams/<stream>/meta.inf, meta.sum      description and its checksum
//	<account>/streams/<stream>/msgs/<n>.blk            messages
//	<account>/streams/<stream>/msgs/index.db           summary, written occasionally
//	<account>/streams/<stream>/obs/<consumer>/meta.inf consumers

// storedStream is a stream found on disk.
type storedStream struct {
	account, name, dir string
	consumers          []string // durable ones
	keeps              bool     // no message leaves by itself: when it is full, it refuses new ones
}

// checkStore finds the streams below dir and reads them completely. The error
// names every damaged file. A partial record at the end of the newest block, left
// by a power cut, is only logged: the server drops it.
func checkStore(dir string, log zerolog.Logger) ([]storedStream, error) {
	dirs, err := filepath.Glob(filepath.Join(dir, "*", "streams", "*"))
	if err != nil {
		return nil, err
	}
	var found []storedStream
	var faults []error
	for _, d := range dirs {
		name := filepath.Base(d)
		if strings.HasPrefix(name, ".") { // being deleted
			continue
		}
		st := storedStream{account: filepath.Base(filepath.Dir(filepath.Dir(d))), name: name, dir: d}
		faults = append(faults, st.check(log))
		found = append(found, st)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("the data is damaged; restore it from a backup, or move the directory away to start with an empty one: %w", err)
	}
	return found, nil
}

// check reads one stream completely.
func (st *storedStream) check(log zerolog.Logger) error {
	meta, err := checkedMeta(st.dir, st.name)
	if err != nil {
		return err
	}
	var cfg server.FileStreamInfo
	if err := json.Unmarshal(meta, &cfg); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(st.dir, server.JetStreamMetaFile), err)
	}
	st.keeps = cfg.Retention == server.LimitsPolicy && cfg.Discard == server.DiscardNew && cfg.MaxAge == 0 &&
		(cfg.MaxMsgsPer <= 0 || cfg.DiscardNewPer)
	consumers, err := filepath.Glob(filepath.Join(st.dir, "obs", "*"))
	if err != nil {
		return err
	}
	for _, d := range consumers {
		name := filepath.Base(d)
		meta, err := checkedMeta(d, st.name+"/"+name)
		if err != nil {
			return err
		}
		var c server.FileConsumerInfo
		if err := json.Unmarshal(meta, &c); err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(d, server.JetStreamMetaFile), err)
		}
		if c.Durable != "" { // the server removes the others after a while
			st.consumers = append(st.consumers, name)
		}
	}
	if cfg.Compression != server.NoCompression {
		return nil // blocks are compressed as a whole; the server checks them when it reads them
	}
	return st.checkBlocks(log)
}

// checkedMeta reads meta.inf in dir and checks it against meta.sum.
func checkedMeta(dir, key string) ([]byte, error) {
	path := filepath.Join(dir, server.JetStreamMetaFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	sum, err := os.ReadFile(filepath.Join(dir, server.JetStreamMetaFileSum))
	if err != nil {
		return nil, err
	}
	h := newHash(key)
	h.Write(data)
	if hex.EncodeToString(h.Sum(nil)) != string(sum) {
		return nil, fmt.Errorf("%s: does not match its checksum in %s", path, server.JetStreamMetaFileSum)
	}
	return data, nil
}

// newHash returns the server's checksum, with a key that names the owner of the
// data.
func newHash(key string) hash.Hash {
	k := sha256.Sum256([]byte(key))
	h, err := highwayhash.NewDigest64(k[:])
	if err != nil {
		panic(err) // the key has the right length
	}
	return h
}

// checkBlocks reads all messages of the stream and checks them against its summary.
func (st *storedStream) checkBlocks(log zerolog.Logger) error {
	blocks, err := st.blocks()
	if err != nil {
		return err
	}
	sum, summed := st.summary()
	var last uint64  // highest sequence seen
	known := !summed // the last record in the summary has been seen
	var torn error   // set if the newest block ends within a record
	for i, b := range blocks {
		path := filepath.Join(st.dir, "msgs", fmt.Sprintf("%d.blk", b))
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		err = checkBlock(data, newHash(fmt.Sprintf("%s-%d", st.name, b)), func(seq uint64, checksum []byte) {
			last = max(last, seq)
			known = known || bytes.Equal(checksum, sum.lastChecksum)
		})
		switch {
		case errors.Is(err, errTorn) && i == len(blocks)-1:
			torn = fmt.Errorf("%s: %w", path, err)
		case err != nil:
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	switch {
	case torn != nil && !known:
		return fmt.Errorf("%w, and messages that index.db lists are missing", torn)
	case last < sum.lastSeq:
		return fmt.Errorf("%s: messages %d to %d are missing", filepath.Join(st.dir, "msgs"), last+1, sum.lastSeq)
	case torn != nil:
		log.Warn().Err(torn).Msg("dropped the last message, which is incomplete; was there a power cut?")
	}
	return nil
}

// blocks returns the numbers of the stream's blocks in order.
func (st *storedStream) blocks() ([]int, error) {
	files, err := os.ReadDir(filepath.Join(st.dir, "msgs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // a stream in memory
	}
	var blocks []int
	for _, f := range files {
		var n int
		if _, err := fmt.Sscanf(f.Name(), "%d.blk", &n); err == nil && f.Name() == fmt.Sprintf("%d.blk", n) {
			blocks = append(blocks, n)
		}
	}
	slices.Sort(blocks)
	return blocks, err
}

// A record is: length (4, the top bit says that headers follow), sequence (8,
// top bits mark erased messages and tombstones), time (8), length of the
// subject (2), subject, with headers their length (4), headers and body, checksum (8).
const (
	recordHead = 22
	recordSum  = 8
	recordMost = 32 << 20 // the server considers longer ones damaged
	hasHeaders = 1 << 31
	seqMarks   = 1<<63 | 1<<62
)

// errTorn is returned if a block ends within a record. In the newest block that is
// no damage.
var errTorn = errors.New("ends within a message")

// checkBlock checks the records of a block and calls each with their sequence and
// checksum.
func checkBlock(data []byte, h hash.Hash, each func(seq uint64, checksum []byte)) error {
	for at := 0; at < len(data); {
		rest := data[at:]
		if len(rest) < recordHead {
			return fmt.Errorf("byte %d: %w", at, errTorn)
		}
		n := binary.LittleEndian.Uint32(rest)
		text := recordHead + int(binary.LittleEndian.Uint16(rest[20:])) // end of the subject
		body := text
		if n&hasHeaders != 0 {
			body += 4
		}
		size := int(n &^ uint32(hasHeaders))
		if size > recordMost || size < body+recordSum {
			return fmt.Errorf("byte %d: not a message", at)
		}
		if size > len(rest) {
			return fmt.Errorf("byte %d: %w", at, errTorn)
		}
		seq := binary.LittleEndian.Uint64(rest[4:]) &^ seqMarks
		sum := rest[size-recordSum : size]
		h.Reset()
		h.Write(rest[4:20])
		h.Write(rest[recordHead:text])
		h.Write(rest[body : size-recordSum])
		if !bytes.Equal(h.Sum(nil), sum) {
			return fmt.Errorf("byte %d: message %d does not match its checksum", at, seq)
		}
		each(seq, sum)
		at += size
	}
	return nil
}

// summary is what index.db says about the end of the stream.
type summary struct {
	lastSeq      uint64
	lastChecksum []byte // of the last record of the newest block
}

// summary reads index.db. ok is false if it is missing or damaged: the server then
// rebuilds it from the blocks.
func (st *storedStream) summary() (sum summary, ok bool) {
	data, err := os.ReadFile(filepath.Join(st.dir, "msgs", "index.db"))
	if err != nil || len(data) < 2+2*recordSum {
		return sum, false
	}
	data, own := data[:len(data)-recordSum], data[len(data)-recordSum:]
	h := newHash(st.name)
	h.Write(data)
	if !bytes.Equal(h.Sum(nil), own) {
		return sum, false
	}
	sum.lastChecksum = data[len(data)-recordSum:]
	// Magic and version, then varints: messages, bytes, first sequence, its time, last sequence.
	data = data[2:]
	for range 5 {
		v, n := binary.Uvarint(data)
		if n <= 0 {
			return summary{}, false
		}
		sum.lastSeq, data = v, data[n:]
	}
	return sum, true
}

// recovered checks that the server has recovered all that was on disk.
func (s *Server) recovered(stored []storedStream, log *serverLog) error {
	if len(stored) == 0 {
		return nil
	}
	info, err := s.ns.Jsz(&server.JSzOptions{Accounts: true, Streams: true, Consumer: true})
	if err != nil {
		return err
	}
	have := map[string]bool{}
	for _, a := range info.AccountDetails {
		for _, st := range a.Streams {
			have[a.Name+"/"+st.Name] = true
			for _, c := range st.Consumer {
				have[a.Name+"/"+st.Name+"/"+c.Name] = true
			}
		}
	}
	for _, st := range stored {
		if !have[st.account+"/"+st.name] {
			return fmt.Errorf("%s: the server could not recover this stream: %s", st.dir, log.recent())
		}
		for _, c := range st.consumers {
			if !have[st.account+"/"+st.name+"/"+c] {
				return fmt.Errorf("%s: the server could not recover this consumer: %s", filepath.Join(st.dir, "obs", c), log.recent())
			}
		}
	}
	return nil
}

#pragma once
// Untrusted tar archives, unpacked below one directory by a TreeWriter. libarchive reads (tar in
// all its dialects; gzip, bzip2, xz, lzma, lzip, zstd, lz4, compress), we write. Never starts a
// program. Everything that TreeWriter refuses, and a file that is no tar archive, ends early or is
// damaged, gives an error that names archive and member. Devices, fifos and sockets are skipped and
// counted; owners, set-id bits and extended attributes are dropped.

#include <string>

#include "images/progress.h"
#include "images/tree/tree_writer.h"

namespace images {

enum class Names : uint8_t {
  kPlain,     // of a root file system
  kWhiteouts  // of an OCI layer: ".wh.NAME" hides NAME of the layers below, ".wh..wh..opq" all
};

// `file` is read from its start, whatever its offset; `label` is its name in errors.
sys::Result<void> unpack_archive(int file, const std::string& label, Names names, TreeWriter& into,
                                 const Watch& watch = {});

// The SHA-256, as 64 hexadecimal digits, of what the file holds once it is decompressed.
sys::Result<std::string> sha256_of_content(int file, const std::string& label, sys::Bytes limit,
                                           const Watch& watch = {});

}  // namespace images

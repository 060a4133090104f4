#pragma once
// Blobs: contents that many jobs share, kept on this host under the name of their digest, so that a
// job can say "sha256:..." instead of carrying them. A bounded store of files; what was used least
// recently leaves first. Any number of processes may use one store.
//
// Each tenant has blobs of its own, in a second directory that all tenants share: there a file's
// name is made of the tenant and the digest, so what another has looks like what nobody has.

#include <string>
#include <string_view>
#include <vector>

#include "runtime/builds/bounded_files.h"
#include "runtime/job/job.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace runtime {

struct Blob {
  std::string digest;  // "sha256:HEX"
  uint64_t bytes = 0;
  int64_t used_ns = 0;  // when it was put or read last, by the system's clock
};

// Tells whether any content of it is a digest.
bool names_blobs(const Job& job);

class BlobStore {
 public:
  static constexpr sys::Bytes kCapacity = sys::mebibytes(4096);
  static constexpr sys::Bytes kLargest = sys::mebibytes(1024);

  // An absolute path. Nothing is made before the first put().
  explicit BlobStore(std::string root, sys::Bytes capacity = kCapacity)
      : files_(std::move(root), capacity) {}

  // Every directory that it keeps files in: its own, and that of all tenants.
  std::vector<std::string> folders() const;
  // Makes them now, for who may not do so later.
  sys::Result<void> make_folders() const;

  // The blobs of a tenant, as if there were no others; empty: these. They have no list().
  BlobStore of(const std::string& tenant) const;

  // Whole or not at all. Returns the digest; makes room if it must.
  sys::Result<std::string> put(std::string_view bytes) const;
  // Checked against the digest; an error when it is not there, or not what it was.
  sys::Result<std::string> get(const std::string& digest) const;
  sys::Result<uint64_t> size_of(const std::string& digest) const;
  sys::Result<std::vector<Blob>> list() const;  // the most recently used first
  sys::Result<void> remove(const std::string& digest) const;

  // Puts contents in the place of the digests that a job names. The error names the field.
  sys::Result<void> fill_in(Job& job) const;

 private:
  sys::Result<void> fill_in(std::vector<InputFile>& files, const std::string& field) const;

  BlobStore(BoundedFiles files, std::string tenant)
      : files_(std::move(files)), tenant_(std::move(tenant)) {}
  std::string name_of(const std::string& digest) const;
  BoundedFiles files_of_tenants() const;

  BoundedFiles files_;
  std::string tenant_;
};

}  // namespace runtime

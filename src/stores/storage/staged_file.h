#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "stores/storage/checksum.h"
#include "stores/storage/folder.h"

namespace trainyard::storage {

/// The bytes of an object being uploaded: a file in the uploads directory, invisible until it is placed in a
/// bucket. Blocking, one thread at a time: the `files` pool. The destructor removes the file unless Keep()
/// was called.
class StagedFile {
 public:
  /// @param uploads  the uploads directory; must stay open. Never kAlreadyExists: `id` is new.
  [[nodiscard]] static Result<StagedFile> Create(int uploads, std::string id);
  /// Opens the file of an upload that a previous server began. kNotFound: there is none. The destructor keeps
  /// it. Its checksums are computed by Reread, which must have read all of it before any other call.
  [[nodiscard]] static Result<StagedFile> Reopen(int uploads, std::string id);
  [[nodiscard]] Status Reread(std::uint64_t offset, std::uint64_t length);

  /// Makes another name for an object's file, which is renamed without being read. Absent: the file system
  /// has no hard links, or does not allow this one.
  [[nodiscard]] static Result<std::optional<StagedFile>> Link(int uploads, std::string id, int descriptor,
                                                              std::uint64_t length, Digests digests);

  StagedFile(StagedFile&& other) noexcept;
  StagedFile& operator=(StagedFile&&) = delete;
  ~StagedFile();

  /// All or nothing: kResourceExhausted (the disk is full) leaves the file as it was.
  [[nodiscard]] Status Append(std::string_view bytes);
  /// Appends another file's bytes.
  [[nodiscard]] Status AppendFile(int descriptor, std::uint64_t offset, std::uint64_t length);
  /// As AppendFile, for a file that is filled only this way; the kernel copies, so nothing is read or hashed.
  [[nodiscard]] Status CopySlice(int descriptor, std::uint64_t offset, std::uint64_t length);
  /// After the last CopySlice: sets the source's known checksums. kAborted: not `length` bytes were copied.
  [[nodiscard]] Status FinishCopy(std::uint64_t length, Digests digests);
  /// When it returns, the appended bytes survive a power cut.
  [[nodiscard]] Status Sync();

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] Digests digests() const;
  [[nodiscard]] Result<FileStamp> Stamp() const { return StampOf(file_.get()); }
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] int uploads() const noexcept { return uploads_; }
  /// Makes the destructor leave the file where it is.
  void Keep() noexcept { kept_ = true; }

 private:
  StagedFile(int uploads, std::string id, UniqueFd file);

  int uploads_;
  std::string id_;
  UniqueFd file_;
  std::uint64_t size_ = 0;
  bool kept_ = false;
  Checksum checksum_;
  std::unique_ptr<Digests> known_;
};

}  // namespace trainyard::storage

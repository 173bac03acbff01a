#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Which files of a program's working directory are kept at its end. Pure: any thread.
namespace trainyard::objects {

/// What tells that a file was not written since.
struct WorkStamp {
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;  ///< since 1970
  friend bool operator==(const WorkStamp&, const WorkStamp&) = default;
};

/// Something in the working directory that is no folder.
struct WorkFile {
  enum class Kind { kFile, kLink, kSpecial, kUnreadable };
  std::string path;  ///< below the working directory
  WorkStamp stamp{};
  Kind kind = Kind::kFile;
  friend bool operator==(const WorkFile&, const WorkFile&) = default;
};

/// The program's own files as they were laid there, by path.
using UnpackedFiles = std::map<std::string, WorkStamp, std::less<>>;

/// Reads the list that the starting module of `trainyard run` writes: "BYTES MODIFIED_NS PATH" and a NUL for
/// each file. What is no such entry is left out: that file counts as new.
[[nodiscard]] UnpackedFiles ReadUnpackedFiles(std::string_view list);

struct KeptLimits {
  std::uint64_t bytes = std::uint64_t{1} << 30;
  std::size_t files = 10'000;
};

struct LeftFile {
  std::string path;
  std::string why;  ///< "a link"
  friend bool operator==(const LeftFile&, const LeftFile&) = default;
};

struct KeptFiles {
  std::vector<WorkFile> kept;  ///< the least deep first, then the smallest
  std::vector<LeftFile> left;  ///< what is new or changed and is not kept; the least deep first
  std::uint64_t bytes = 0;     ///< of `kept`
};

/// Whether a folder of that name holds only what tools make again: it is not looked into.
[[nodiscard]] bool IsToolFolder(std::string_view name);

/// Files that are new or have another stamp than when they were unpacked, up to the limits: those of the top
/// before those of folders. Of too many files of one depth the larger ones are kept, of too many bytes the
/// smaller ones. Compiled Python is not kept, and not named.
[[nodiscard]] KeptFiles ChooseKeptFiles(std::vector<WorkFile> files, const UnpackedFiles& unpacked,
                                        KeptLimits limits);

/// "a.bin (more than 1 GiB in all), b (a link) and 3 more": at most five are named, newlines and the
/// like escaped. Empty for none.
[[nodiscard]] std::string NameLeftFiles(const std::vector<LeftFile>& left);

}  // namespace trainyard::objects

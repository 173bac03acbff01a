#include "rules/objects/kept_files.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "base/number.h"
#include "base/text/json_string.h"
#include "base/text/number.h"
#include "rules/placement/quota.h"

namespace trainyard::objects {

namespace {

constexpr std::array<std::string_view, 8> kToolFolders = {
    "__pycache__", ".ipynb_checkpoints", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".git",
    ".venv",       "node_modules"};
constexpr std::size_t kNamedMax = 5;

/// The reason why something of that kind cannot be kept; empty: it can.
std::string_view KindReason(WorkFile::Kind kind) {
  switch (kind) {
    case WorkFile::Kind::kFile: return "";
    case WorkFile::Kind::kLink: return "a link";
    case WorkFile::Kind::kSpecial: return "neither a file nor a folder";
    case WorkFile::Kind::kUnreadable: return "cannot be read";
  }
  return "";
}

/// Takes the text before the separator, and the separator.
std::string_view TakeUntil(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

std::int64_t DepthOf(std::string_view path) { return std::ranges::count(path, '/'); }

/// Whether it is a result at all: neither the program's own file as it was, nor compiled Python.
bool IsResult(const WorkFile& file, const UnpackedFiles& unpacked) {
  const auto known = unpacked.find(file.path);
  const bool is_file = file.kind == WorkFile::Kind::kFile;
  if (is_file && known != unpacked.end() && known->second == file.stamp) return false;
  return !file.path.ends_with(".pyc");
}

/// Leaves out what cannot be kept, and of too many files the deepest and smallest: thousands of tiny ones do
/// not displace a model.
void LeaveOut(std::vector<WorkFile>& files, std::size_t files_max, std::vector<LeftFile>& left) {
  std::ranges::sort(files, [](const WorkFile& a, const WorkFile& b) {
    return std::tuple(DepthOf(a.path), b.stamp.bytes, std::string_view(a.path)) <
           std::tuple(DepthOf(b.path), a.stamp.bytes, std::string_view(b.path));
  });
  std::size_t count = 0;
  std::erase_if(files, [&](WorkFile& file) {
    std::string why(KindReason(file.kind));
    if (why.empty() && count++ >= files_max)
      why = "more than " + text::Counted(static_cast<std::int64_t>(files_max), "file");
    if (!why.empty()) left.push_back({std::move(file.path), why});
    return !why.empty();
  });
}

}  // namespace

UnpackedFiles ReadUnpackedFiles(std::string_view list) {
  UnpackedFiles files;
  while (!list.empty()) {
    std::string_view entry = TakeUntil(list, '\0');
    const auto bytes = WholeNumber<std::uint64_t>(TakeUntil(entry, ' '));
    const auto modified = WholeNumber<std::int64_t>(TakeUntil(entry, ' '));
    if (bytes && modified && !entry.empty())
      files.insert_or_assign(std::string(entry), WorkStamp{.bytes = *bytes, .modified_ns = *modified});
  }
  return files;
}

bool IsToolFolder(std::string_view name) {
  return std::ranges::find(kToolFolders, name) != kToolFolders.end();
}

KeptFiles ChooseKeptFiles(std::vector<WorkFile> files, const UnpackedFiles& unpacked, KeptLimits limits) {
  std::erase_if(files, [&](const WorkFile& file) { return !IsResult(file, unpacked); });
  KeptFiles chosen;
  LeaveOut(files, limits.files, chosen.left);
  std::ranges::sort(files, {}, [](const WorkFile& file) {
    return std::tuple(DepthOf(file.path), file.stamp.bytes, std::string_view(file.path));
  });
  for (WorkFile& file : files) {
    if (file.stamp.bytes > limits.bytes - chosen.bytes) {
      chosen.left.push_back(
          {std::move(file.path),
           "more than " + placement::BytesText(static_cast<std::int64_t>(limits.bytes)) + " in all"});
      continue;
    }
    chosen.bytes += file.stamp.bytes;
    chosen.kept.push_back(std::move(file));
  }
  std::ranges::sort(chosen.left, {}, [](const LeftFile& file) {
    return std::pair(DepthOf(file.path), std::string_view(file.path));
  });
  return chosen;
}

std::string NameLeftFiles(const std::vector<LeftFile>& left) {
  std::string names;
  for (std::size_t i = 0; i < std::min(left.size(), kNamedMax); ++i)
    names += (i == 0 ? "" : ", ") + text::EscapeJson(left[i].path) + " (" + left[i].why + ")";
  if (left.size() > kNamedMax) names += " and " + std::to_string(left.size() - kNamedMax) + " more";
  return names;
}

}  // namespace trainyard::objects

#include "stores/storage/walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/async/beneath.h"
#include "base/async/directory.h"
#include "base/text/base64.h"
#include "rules/objects/glob.h"
#include "rules/objects/path_escape.h"
#include "stores/storage/checksum.h"

namespace trainyard::storage {
namespace {

/// One file or directory on the way. Directories sort as their name with the '/' that all names inside
/// continue with: "a-b", "a/", "a0" is the order of "a-b", "a/x", "a0".
struct Entry {
  std::string key;
  std::string file_name;
  std::shared_ptr<const std::vector<std::string>>
      parent;  ///< components from the bucket's directory; many share it
  bool folder = false;
  bool displaced = false;

  [[nodiscard]] std::vector<std::string> Components() const {
    std::vector<std::string> components = *parent;
    components.push_back(file_name);
    return components;
  }
};

/// For a heap with the first name on top.
bool IsLater(const Entry& a, const Entry& b) {
  return std::tie(a.key, a.file_name) > std::tie(b.key, b.file_name);
}

enum class Kind { kFile, kFolder, kOther };

Kind KindOf(int folder, const dirent& entry) {
  if (entry.d_type == DT_REG) return Kind::kFile;
  if (entry.d_type == DT_DIR) return Kind::kFolder;
  if (entry.d_type != DT_UNKNOWN) return Kind::kOther;
  struct stat status{};
  if (::fstatat(folder, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return Kind::kOther;
  if (S_ISREG(status.st_mode)) return Kind::kFile;
  return S_ISDIR(status.st_mode) ? Kind::kFolder : Kind::kOther;
}

class Walker {
 public:
  Walker(int bucket, std::string prefix, std::string from, const Visit& visit, std::size_t entries_max)
      : bucket_(bucket),
        prefix_(std::move(prefix)),
        from_(std::max(std::move(from), prefix_)),
        begin_(from_),
        visit_(visit),
        entries_max_(entries_max) {}

  /// `base` is the common prefix of the names inside. False in the result: stop.
  Result<bool> WalkFolder(const std::string& base, const std::vector<std::string>& components) {
    std::vector<Entry> entries;
    TY_RETURN_IF_ERROR(ReadFolder(base, components, entries));
    // A page usually ends long before a large directory does: a heap sorts only as much as is needed.
    for (std::ranges::make_heap(entries, IsLater); !entries.empty(); entries.pop_back()) {
      std::ranges::pop_heap(entries, IsLater);
      const Entry& entry = entries.back();
      if (entry.key < from_ && !(entry.folder && from_.starts_with(entry.key))) continue;
      if (entry.folder && entries_read_ > entries_max_ && entry.key > begin_) {
        ended_at_ = entry.key;
        return false;
      }
      TY_TRY(const bool go_on, entry.folder ? WalkFolder(entry.key, entry.Components()) : VisitFile(entry));
      if (!go_on) return false;
    }
    return true;
  }

  /// The name at which the walk ended because of the limit on entries.
  std::optional<std::string> TakeEnd() { return std::move(ended_at_); }

 private:
  /// Whether names that begin with (or equal) the entry's key may be wanted.
  bool IsWanted(const Entry& entry) const {
    const bool matches = entry.key.starts_with(prefix_) || (entry.folder && prefix_.starts_with(entry.key));
    return matches && entry.key.size() <= kObjectBytesMax &&
           (entry.key >= from_ || (entry.folder && from_.starts_with(entry.key)));
  }

  Status ReadFolder(const std::string& base, const std::vector<std::string>& components,
                    std::vector<Entry>& entries) {
    std::vector<Entry> pieces;
    TY_RETURN_IF_ERROR(ReadOneFolder(base, components, entries, pieces));
    // Names that continue inside a piece sort among those of this directory.
    for (const Entry& piece : pieces) TY_RETURN_IF_ERROR(ReadFolder(piece.key, piece.Components(), entries));
    return {};
  }

  Status ReadOneFolder(const std::string& base, const std::vector<std::string>& components,
                       std::vector<Entry>& entries, std::vector<Entry>& pieces) {
    auto folder = OpenFolderBeneath(bucket_, components);
    if (!folder && folder.error().code == Code::kNotFound) return {};  // deleted in the meantime
    if (!folder) return std::unexpected(std::move(folder).error());
    const DirectoryPtr directory(::fdopendir(folder->get()));
    if (!directory) return std::unexpected(ErrnoError(errno, "read a folder of the bucket"));
    [[maybe_unused]] const int closed_by_closedir = folder->Release();
    const auto parent = std::make_shared<const std::vector<std::string>>(components);
    for (errno = 0; const dirent* found = ::readdir(directory.get()); errno = 0) {
      const std::string_view file_name = found->d_name;
      if (file_name == "." || file_name == "..") continue;
      ++entries_read_;
      const std::optional<EntryName> name = DecodeEntry(file_name);
      const Kind kind = name ? KindOf(::dirfd(directory.get()), *found) : Kind::kOther;
      if (kind == Kind::kOther || (name->piece && kind == Kind::kFile)) continue;
      if (name->displaced && kind == Kind::kFolder) continue;
      Entry entry{.key = base + name->text, .folder = kind == Kind::kFolder, .displaced = name->displaced};
      if (entry.folder && !name->piece) entry.key += '/';
      if (!IsWanted(entry)) continue;
      entry.file_name = file_name;
      entry.parent = parent;
      (name->piece ? pieces : entries).push_back(std::move(entry));
    }
    if (errno != 0) return std::unexpected(ErrnoError(errno, "read a folder of the bucket"));
    return {};
  }

  Result<bool> VisitFile(const Entry& entry) {
    if (!IsItsPath(entry)) return true;
    std::optional<std::string> next = visit_(entry.key);
    if (!next) return false;
    from_ = std::max(from_, *std::move(next));
    return true;
  }

  /// Whether the escape maps this name to this path; "a/.%name.b" is the path of no name.
  static bool IsItsPath(const Entry& entry) {
    ObjectPath path = EscapeObject(entry.key);
    const bool same_file = entry.file_name == (entry.displaced ? DisplacedName(path.file) : path.file);
    return same_file && *entry.parent == path.folders;
  }

  static constexpr std::size_t kObjectBytesMax = 1024;
  int bucket_;
  std::string prefix_;
  std::string from_;
  std::string begin_;
  const Visit& visit_;
  std::size_t entries_max_;
  std::size_t entries_read_ = 0;
  std::optional<std::string> ended_at_;
};

/// The first name after all that begin with `text`. Names are UTF-8: their bytes stay below 0xFF.
std::string AfterPrefix(std::string text) {
  while (!text.empty() && static_cast<unsigned char>(text.back()) == 0xFF) text.pop_back();
  if (!text.empty()) text.back() = static_cast<char>(static_cast<unsigned char>(text.back()) + 1);
  return text;
}

/// The first name after `object`: names contain no NUL.
std::string AfterObject(const std::string& object) { return object + '\0'; }

class Page {
 public:
  Page(const NameQuery& query, const std::optional<Glob>& glob) : query_(query), glob_(glob) {}

  std::optional<std::string> Add(const std::string& object) {
    if (!query_.end_offset.empty() && object >= query_.end_offset) return std::nullopt;
    work_ += kNameWork + (glob_ ? glob_->WorkOf(object) : 0);
    if (work_ > kPageWorkMax) {
      EndAt(object);
      return std::nullopt;
    }
    const std::size_t cut =
        query_.delimiter.empty() ? std::string::npos : object.find(query_.delimiter, query_.prefix.size());
    if (cut == std::string::npos) {
      if (!IsAskedFor(object)) return AfterObject(object);
      if (IsFull(object)) return std::nullopt;
      page_.objects.push_back(object);
      return AfterObject(object);
    }
    std::string prefix = object.substr(0, cut + query_.delimiter.size());
    if (!IsAskedFor(prefix)) return AfterPrefix(std::move(prefix));
    if (IsFull(object)) return std::nullopt;
    if (query_.include_trailing_delimiter && prefix == object) page_.objects.push_back(object);
    page_.prefixes.push_back(prefix);
    return AfterPrefix(std::move(prefix));
  }

  /// Makes the next page begin with this name.
  void EndAt(const std::string& name) { page_.next_page_token = text::Base64(name); }
  NamePage Take() && { return std::move(page_); }

 private:
  /// A page that is full ends before this name.
  bool IsFull(const std::string& object) {
    if (page_.objects.size() + page_.prefixes.size() < query_.results_max) return false;
    EndAt(object);
    return true;
  }

  bool IsAskedFor(const std::string& name) const { return !glob_ || glob_->Matches(name); }

  const NameQuery& query_;
  const std::optional<Glob>& glob_;
  std::size_t work_ = 0;
  NamePage page_;
};

}  // namespace

Result<std::optional<std::string>> WalkObjects(int bucket, std::string prefix, std::string from,
                                               const Visit& visit, std::size_t entries_max) {
  Walker walker(bucket, std::move(prefix), std::move(from), visit, entries_max);
  TY_TRY([[maybe_unused]] const bool all, walker.WalkFolder({}, {}));
  return walker.TakeEnd();
}

Result<NamePage> ListNames(int bucket, const NameQuery& query) {
  const std::optional<std::string> token = text::FromBase64(query.page_token);
  if (!token || token->find('\0') != std::string::npos) {
    return std::unexpected(InvalidArgument("pageToken", "Invalid page token: " + query.page_token));
  }
  std::optional<Glob> glob;
  if (!query.match_glob.empty()) {
    TY_TRY(glob, Glob::Parse(query.match_glob));
  }
  const std::string head = glob ? glob->literal_head() : std::string();
  if (!head.starts_with(query.prefix) && !query.prefix.starts_with(head)) return NamePage{};
  Page page(query, glob);
  const auto visit = [&page](const std::string& object) { return page.Add(object); };
  const std::string& prefix = std::max(query.prefix, head);  // the longer one
  TY_TRY(const auto ended_at,
         WalkObjects(bucket, prefix, std::max(query.start_offset, *token), visit, kPageWorkMax / kNameWork));
  const bool wanted = ended_at && (query.end_offset.empty() || *ended_at < query.end_offset);
  if (wanted) page.EndAt(*ended_at);
  return std::move(page).Take();
}

}  // namespace trainyard::storage
